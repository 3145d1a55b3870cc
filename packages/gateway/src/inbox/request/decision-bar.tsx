import { answerLostText } from '../api/fetch-json.ts';
import { Foreign, Marked } from '../parts/shown-text.tsx';
import { currentLocation, inListHref, navigate, requestHref } from '../state/location.ts';
import { isSameRequest, requestParams } from '../state/paths.ts';
import { announceText, useStore } from '../state/store.ts';
import { decisions, forgetDecision, type DecisionState, type GivenDecision } from './decisions.ts';
import { UndoBar } from './undo.tsx';
import { Button } from '../parts/controls.tsx';

/** Shows on other views what became of the last answer: how long it can be undone, or why it does not count. */
export function DecisionBar() {
  const { path } = useStore(currentLocation);
  const open = requestParams(path);
  const given = [...useStore(decisions).values()].findLast(
    (each) => isNews(each) && (open === undefined || !isSameRequest(each, open)),
  );
  const isDelayed = given?.state.kind === 'delayed';
  const status = isDelayed ? 'Approved. You can undo it with z.' : 'It does not count yet.';
  return (
    <section class="decision-bar" aria-label="Your last answer">
      {/* The element is always in the page, because screen readers announce only changes of existing elements. */}
      <p class="visually-hidden" role="status">
        {given === undefined ? '' : status}
      </p>
      {given !== undefined && <News key={requestHref(given)} given={given} />}
    </section>
  );
}

function isNews({ state }: GivenDecision): boolean {
  return ['delayed', 'unsure', 'refused', 'dropped'].includes(state.kind);
}

function whyNotCounted(state: DecisionState): string {
  if (state.kind === 'unsure') return answerLostText;
  if (state.kind === 'refused') return `Not accepted: ${state.problem.message}`;
  return state.kind === 'dropped' ? `Not sent: ${state.why}.` : '';
}

/** Shows an answer that can still be undone, or that does not count, with buttons for the next step. */
function News({ given }: { given: GivenDecision }) {
  const { state, sentence } = given;
  if (state.kind === 'delayed') {
    const undo = (): void => {
      forgetDecision(given);
      announceText('Undone. Nothing was sent.');
      navigate(inListHref(given));
    };
    return (
      <UndoBar held={state.held} undo={undo} focus={false}>
        <Marked text={state.summary} /> · <Marked text={sentence} />
      </UndoBar>
    );
  }
  return (
    <div class="note bad">
      <p>
        <Marked text={sentence} /> · <Foreign text={whyNotCounted(state)} most={500} />
      </p>
      <p class="buttons">
        {state.kind === 'unsure' && <Button onClick={state.again}>Send it again</Button>}
        <a class="button" href={inListHref(given)}>
          Open the request
        </a>
        <Button class="quiet" onClick={() => forgetDecision(given)}>
          Hide
        </Button>
      </p>
    </div>
  );
}
