import { useEffect, useRef, useState } from 'preact/hooks';
import { announce } from '../state/announcements.ts';
import { meOf, session } from '../state/me.ts';
import { useShortcuts } from '../state/shortcuts.ts';
import { useStore } from '../state/store.ts';
import { AnswerBar, type FormName } from './answer-bar.tsx';
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
  const approveButton = useRef<HTMLButtonElement>(null);
  const bar = useRef<HTMLDivElement>(null);
  const undo = useUndo();
  const isArmed = useArmed(shown.shownAtMs) && !shown.hasChanged;
  const whyNot = whyNotApprove(request, card.isWhole);
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
  const has: Record<FormName, boolean> = {
    deny: true,
    respond: true,
    edit: request.shown === 'all',
    always: scopes !== undefined && scopes.length > 0,
    extend: request.deadline !== null,
    delegate: true,
  };
  const open = (name: FormName): void => {
    if (!has[name] || !isArmed || isBusy || (['edit', 'always'].includes(name) && whyNot !== undefined)) return;
    setForm(name);
  };
  const focusApprove = (): void => {
    approveButton.current?.focus();
    announce(whyNot ?? 'Press Enter to approve.');
  };
  useEffect(() => {
    if (!isArmed || prepared === undefined) return;
    if (prepared === 'deny') setForm('deny');
    else focusApprove();
  }, [isArmed]);
  useShortcuts({
    a: focusApprove,
    A: () => open('always'),
    d: () => open('deny'),
    e: () => open('edit'),
    r: () => open('respond'),
    x: () => open('extend'),
  });
  if (me !== undefined && !me.roles.includes('reviewer')) {
    return (
      <p class="note">
        You can look at requests but not answer them. Answering needs the role reviewer: ask whoever runs this gateway.
      </p>
    );
  }
  const forms = { request, cancel: close, isBusy };
  return (
    <section class="answers" aria-label="Your answer">
      <DecisionNote state={decision.state} />
      {undo.held !== undefined && <UndoBar held={undo.held} undo={() => undo.cancel('Undone. Nothing was sent.')} />}
      {whyNot !== undefined && (
        <p id="why-not" class="soft small">
          {whyNot}
        </p>
      )}
      {form === 'deny' && <DenyForm {...forms} send={answer} />}
      {form === 'respond' && <RespondForm {...forms} send={answer} />}
      {form === 'edit' && <EditForm {...forms} send={answer} state={decision.state} />}
      {form === 'always' && scopes !== undefined && <AlwaysForm {...forms} send={answer} scopes={scopes} />}
      {form === 'extend' && <ExtendForm {...forms} then={() => void live.reload()} />}
      {form === 'delegate' && <DelegateForm {...forms} then={() => void live.reload()} />}
      <AnswerBar
        bar={bar}
        approveButton={approveButton}
        form={form}
        has={has}
        isOff={!isArmed || isBusy}
        whyNot={whyNot}
        approve={() => answer({ approved: true })}
        open={open}
        close={close}
      />
    </section>
  );
}
