import type { AnswerForm } from './answer-form.ts';
import { createStore } from './store.ts';

/** The answers that the request on the screen takes now: what opens the form, or goes to the button. */
export type AnswerActions = Partial<Record<AnswerForm, () => void>>;

/** Empty while no request is shown that this person can answer. */
export const answerActions = createStore<AnswerActions>({});
