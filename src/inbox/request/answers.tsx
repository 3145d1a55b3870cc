import { useEffect, useRef, useState } from 'preact/hooks';
import { announce } from '../state/announcements.ts';
import { meOf, session } from '../state/me.ts';
import { useShortcuts } from '../state/shortcuts.ts';
import { useStore } from '../state/store.ts';
import { AlwaysForm } from './always-form.tsx';
import { DecisionNote } from './decision-note.tsx';
import { DelegateForm } from './delegate-form.tsx';
import { DenyForm } from './deny-form.tsx';
import { EditForm } from './edit-form.tsx';
import { ExtendForm } from './extend-form.tsx';
import { RespondForm } from './respond-form.tsx';
import { UndoBar } from './undo-bar.tsx';
import type { Answer, Decision } from './use-decision.ts';
import type { LiveRequest, ShownRequest } from './use-request.ts';
import { useArmed } from './use-armed.ts';
import { useUndo } from './use-undo.ts';
import { viewedSince } from './viewed.ts';
import { whyNotApprove } from './why-not-approve.ts';

type FormName = 'deny' | 'respond' | 'edit' | 'always' | 'extend' | 'delegate';

interface AnswersProps {
  live: LiveRequest;
  shown: ShownRequest;
  decision: Decision;
  /** The card that is on the screen. */
  card: { isWhole: boolean; digest: string };
  /** The answer that the address prepares. */
  prepared?: string;
}

/** The answers to an open request: each needs a button that is pressed on purpose. */
export function Answers({ live, shown, decision, card, prepared }: AnswersProps) {
  const { request, scopes } = shown.view;
  const me = meOf(useStore(session));
  const [form, setForm] = useState<FormName>();
  // On a narrow screen, the further answers are folded away to leave room for the card.
  const [isUnfolded, setUnfolded] = useState(false);
  const approveButton = useRef<HTMLButtonElement>(null);
  const bar = useRef<HTMLDivElement>(null);
  const undo = useUndo();
  const isArmed = useArmed(shown.shownAtMs) && !shown.hasChanged;
  const why = whyNotApprove(request, card.isWhole);
  const isBusy = undo.held !== undefined || decision.state.kind === 'sending' || decision.state.kind === 'unsure';
  // The reviewer has not read a text that changed during the time to undo.
  useEffect(() => {
    if (shown.hasChanged) undo.cancel('Not sent: the request has changed. Look at it again.');
  }, [shown.hasChanged]);
  const close = (): void => {
    const name = form;
    setForm(undefined);
    queueMicrotask(() => bar.current?.querySelector<HTMLElement>(`[data-form=${name}]`)?.focus());
  };
  const answer = (given: Answer): void => {
    if (!isArmed || isBusy) return;
    const about = (): { digest: string; viewed: ReturnType<typeof viewedSince> } => ({
      digest: request.digest,
      viewed: viewedSince(shown.shownAtMs, { card: card.digest }),
    });
    decision.forget();
    if (!given.approved) return void decision.send(given, about());
    undo.hold(() => void decision.send(given, about()), live.reload);
  };
  const open = (name: FormName) => () => {
    if (!isArmed || isBusy || (['edit', 'always'].includes(name) && why !== undefined)) return;
    setForm(name);
  };
  const focusApprove = (): void => {
    approveButton.current?.focus();
    announce(why ?? 'Press Enter to approve.');
  };
  useEffect(() => {
    if (!isArmed || prepared === undefined) return;
    if (prepared === 'deny') setForm('deny');
    else focusApprove();
  }, [isArmed]);
  useShortcuts({
    a: focusApprove,
    A: open('always'),
    d: open('deny'),
    e: open('edit'),
    r: open('respond'),
    x: open('extend'),
  });
  if (me !== undefined && !me.roles.includes('reviewer')) {
    return (
      <p class="note">
        You can look at requests but not answer them. Answering needs the role reviewer: ask whoever runs this gateway.
      </p>
    );
  }
  const canAlways = scopes !== undefined && scopes.length > 0;
  const forms = { request, cancel: close, isBusy };
  const more = (name: FormName, label: string, isBlocked = false) => (
    <button
      type="button"
      class="secondary"
      data-form={name}
      aria-expanded={form === name}
      aria-disabled={!isArmed || isBusy || isBlocked}
      aria-describedby={isBlocked ? 'why-not' : undefined}
      onClick={form === name ? close : open(name)}
    >
      {label}
    </button>
  );
  return (
    <section class={isUnfolded ? 'answers all' : 'answers'} aria-label="Your answer">
      <DecisionNote state={decision.state} />
      {undo.held !== undefined && <UndoBar held={undo.held} undo={() => undo.cancel('Undone. Nothing was sent.')} />}
      {why !== undefined && (
        <p id="why-not" class="soft small">
          {why}
        </p>
      )}
      {form === 'deny' && <DenyForm {...forms} send={answer} />}
      {form === 'respond' && <RespondForm {...forms} send={answer} />}
      {form === 'edit' && <EditForm {...forms} send={answer} state={decision.state} />}
      {form === 'always' && canAlways && <AlwaysForm {...forms} send={answer} scopes={scopes} />}
      {form === 'extend' && <ExtendForm {...forms} then={() => void live.reload()} />}
      {form === 'delegate' && <DelegateForm {...forms} then={() => void live.reload()} />}
      <div class="bar" ref={bar}>
        <button
          type="button"
          class="primary"
          data-form="deny"
          aria-expanded={form === 'deny'}
          aria-disabled={!isArmed || isBusy}
          onClick={form === 'deny' ? close : open('deny')}
        >
          Deny …
        </button>
        <button
          type="button"
          ref={approveButton}
          aria-disabled={!isArmed || isBusy || why !== undefined}
          aria-describedby={why === undefined ? undefined : 'why-not'}
          onClick={(event) => {
            // The second click of a double click may be meant for what was there before.
            if (event.detail > 1) return;
            if (why === undefined) answer({ approved: true });
            else announce(why, 'bad');
          }}
        >
          Approve
        </button>
        {more('respond', 'Respond …')}
        {request.shown === 'all' && more('edit', 'Edit …', why !== undefined)}
        {canAlways && more('always', 'Always …', why !== undefined)}
        {request.deadline !== null && more('extend', 'Extend …')}
        {more('delegate', 'Delegate …')}
        <button type="button" class="unfold" aria-expanded={isUnfolded} onClick={() => setUnfolded(!isUnfolded)}>
          {isUnfolded ? 'Less' : 'More …'}
        </button>
      </div>
    </section>
  );
}
