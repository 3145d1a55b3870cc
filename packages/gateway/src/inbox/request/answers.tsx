import { useEffect, useRef, useState } from 'preact/hooks';
import { Foreign } from '../parts/shown-text.tsx';
import { announce } from '../state/announcements.ts';
import type { AnswerActions } from '../state/answer-actions.ts';
import { meOf, session } from '../state/me.ts';
import { useStore } from '../state/store.ts';
import { AlwaysForm } from './always-form.tsx';
import { AnswerBar, type FormName } from './answer-bar.tsx';
import { answerSummary } from './answer-summary.ts';
import { DecisionNote } from './decision-note.tsx';
import { DelegateForm } from './delegate-form.tsx';
import { DenyForm } from './deny-form.tsx';
import { EditForm } from './edit-form.tsx';
import { ExtendForm } from './extend-form.tsx';
import { NotYours } from './not-yours.tsx';
import { RespondForm } from './respond-form.tsx';
import { UndoBar } from './undo-bar.tsx';
import type { Answer, Decision } from './use-decision.ts';
import type { LiveRequest, ShownRequest } from './use-request.ts';
import { useAnswerKeys } from './use-answer-keys.ts';
import { useArmed } from './use-armed.ts';
import { useUndo } from './use-undo.ts';
import { viewedSince } from './viewed.ts';
import { whyNotApprove } from './why-not-approve.ts';

interface AnswersProps {
  live: LiveRequest;
  shown: ShownRequest;
  decision: Decision;
  /** The card that is on the screen. */
  card: { isWhole: boolean; digest: string };
  /** The answer that the address prepares. */
  prepared?: string;
}

/**
 * The answers to an open request: each needs a button that is pressed on purpose. A form takes the place of the buttons,
 * so that its own is the only one that sends.
 */
export function Answers({ live, shown, decision, card, prepared }: AnswersProps) {
  const { request, scopes, waitsFor } = shown.view;
  const me = meOf(useStore(session));
  const [form, setForm] = useState<FormName>();
  // On a narrow screen, the other answers take too much of the card's place.
  const [isUnfolded, setUnfolded] = useState(false);
  /** What is held back, in words. */
  const [summary, setSummary] = useState('');
  const section = useRef<HTMLElement>(null);
  const undo = useUndo();
  const isArmed = useArmed(shown.shownAtMs) && !shown.hasChanged;
  const why = whyNotApprove(request, card.isWhole);
  const isBusy = undo.held !== undefined || decision.state.kind === 'sending' || decision.state.kind === 'unsure';
  // The reviewer has not read a text that changed during the time to undo.
  useEffect(() => {
    if (shown.hasChanged) undo.cancel('Not sent: the request has changed. Look at it again.');
  }, [shown.hasChanged]);
  const focus = (selector: string): void =>
    queueMicrotask(() => section.current?.querySelector<HTMLElement>(selector)?.focus({ preventScroll: true }));
  const close = (): void => {
    setForm(undefined);
    focus(`[data-form=${form}]`);
  };
  const answer = (given: Answer): void => {
    if (!isArmed || isBusy) return;
    const about = (): { digest: string; viewed: ReturnType<typeof viewedSince> } => ({
      digest: request.digest,
      viewed: viewedSince(shown.shownAtMs, { card: card.digest }),
    });
    decision.forget();
    if (!given.approved) return void decision.send(given, about());
    setSummary(answerSummary(request, given));
    undo.hold(() => void decision.send(given, about()), live.reload);
  };
  const takeBack = (): void => {
    undo.cancel('Undone. Nothing was sent.');
    focus(form === undefined ? '[data-form=approve]' : 'form [type=submit]');
  };
  const open = (name: FormName) => () => {
    if (!isArmed || isBusy || form !== undefined || (['edit', 'always'].includes(name) && why !== undefined)) return;
    setForm(name);
  };
  const focusApprove = (): void => {
    if (form !== undefined || isBusy) return;
    section.current?.querySelector<HTMLElement>('[data-form=approve]')?.focus({ preventScroll: true });
    announce(why ?? 'Press Enter to approve.');
  };
  useEffect(() => {
    if (!isArmed || prepared === undefined) return;
    if (prepared === 'deny') open('deny')();
    else focusApprove();
  }, [isArmed]);
  const mayAnswer = me === undefined || (me.roles.includes('reviewer') && waitsFor !== 'others');
  const canAlways = scopes !== undefined && scopes.length > 0;
  const actions: AnswerActions = mayAnswer
    ? {
        deny: open('deny'),
        approve: focusApprove,
        ...(request.shown === 'all' && { edit: open('edit') }),
        respond: open('respond'),
        ...(canAlways && { always: open('always') }),
        ...(request.deadline !== null && { extend: open('extend') }),
        ...(waitsFor === 'you' && { delegate: open('delegate') }),
      }
    : {};
  useAnswerKeys(actions);
  if (!mayAnswer) {
    return (
      <NotYours request={request} isReviewer={me.roles.includes('reviewer')}>
        <DecisionNote state={decision.state} />
      </NotYours>
    );
  }
  const forms = { request, cancel: close, isBusy };
  const classes = ['answers', ...(isUnfolded ? ['all'] : []), ...(form !== undefined && !isBusy ? ['with-form'] : [])];
  return (
    <section class={classes.join(' ')} aria-label="Your answer" ref={section}>
      {!(form === 'edit' && decision.state.kind === 'refused') && <DecisionNote state={decision.state} />}
      {undo.held !== undefined && (
        <UndoBar held={undo.held} undo={takeBack}>
          <Foreign text={summary} most={300} />
        </UndoBar>
      )}
      {why !== undefined && form === undefined && (
        <p id="why-not" class="soft small">
          {why}
        </p>
      )}
      <div hidden={isBusy}>
        {form === 'deny' && <DenyForm {...forms} send={answer} />}
        {form === 'respond' && <RespondForm {...forms} send={answer} />}
        {form === 'edit' && <EditForm {...forms} send={answer} state={decision.state} />}
        {form === 'always' && canAlways && <AlwaysForm {...forms} send={answer} scopes={scopes} />}
        {form === 'extend' && <ExtendForm {...forms} then={() => void live.reload()} />}
        {form === 'delegate' && <DelegateForm {...forms} then={() => void live.reload()} />}
        {form === undefined && (
          <AnswerBar
            open={open}
            approve={() => {
              if (why === undefined) answer({ approved: true });
              else announce(why, 'bad');
            }}
            actions={actions}
            isArmed={isArmed}
            isBlocked={why !== undefined}
            isUnfolded={isUnfolded}
            unfold={setUnfolded}
          />
        )}
      </div>
    </section>
  );
}
