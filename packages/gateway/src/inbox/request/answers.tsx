import { useEffect, useRef, useState } from 'preact/hooks';
import { shownName } from 'countersign/base';
import type { ApprovalDetails } from 'countersign/client';
import { Marked, Foreign } from '../parts/shown-text.tsx';
import { announcement, announceText, useStore } from '../state/store.ts';
import { answerActions, useShortcuts, type AnswerActions } from '../state/shortcuts.ts';
import { meOf, session } from '../state/me.ts';
import { AlwaysForm } from './always-form.tsx';
import { CommentForm, DenyForm, RespondForm } from './answer-form.tsx';
import { DecisionNote } from './decision-note.tsx';
import { EditForm } from './edit-form.tsx';
import { HandOverForm, TakeBack } from './hand-over.tsx';
import { ExtendForm, MoveForm } from './extend-and-move.tsx';
import { UndoBar } from './undo.tsx';
import {
  dropDecision,
  forgetDecision,
  holdDecision,
  sendDecision,
  type DecisionState,
  type GivenAnswer,
} from './decisions.ts';
import { goToNext } from './next-request.tsx';
import { viewedSince, whyNotApprove } from './use-decision.ts';
import type { LiveRequest, LoadedRequest } from './use-request.ts';
import { valueChanges } from './what-changed.ts';
import type { AnswerName } from '../palette/commands.ts';
import { Button } from '../parts/controls.tsx';
import type { ComponentChildren, RefObject } from 'preact';
import { whoCanAnswer } from './who-answers.ts';

/** How long new buttons ignore keys and clicks, in milliseconds, because these may be meant for the previous screen. */
const armingMs = 500;

interface AnswersProps {
  live: LiveRequest;
  shown: LoadedRequest;
  decision: DecisionState;
  card: { isWhole: boolean; digest: string; sentence: string };
  prepared?: string;
}

/** The buttons and forms that answer a request. An open form replaces the buttons, so that only its button sends. */
export function Answers({ live, shown, decision, card, prepared }: AnswersProps) {
  const { request, scopes, waitsFor } = shown.view;
  const me = meOf(useStore(session));
  const [form, setForm] = useState<FormName>();
  // On a narrow screen, the further answers are folded, because they leave too little room for the card.
  const [isUnfolded, setUnfolded] = useState(false);
  const section = useRef<HTMLElement>(null);
  const isArmed = useArmed(shown.shownAtMs) && !shown.hasChanged;
  const isPart = shown.part !== undefined;
  const why = whyNotApprove(request, card.isWhole, isPart);
  const isBusy = ['delayed', 'sending', 'unsure'].includes(decision.kind);
  // If the request changes while its approval is delayed, the approval is dropped: no reviewer has read the change.
  useEffect(() => {
    if (shown.hasChanged) dropDecision(request, 'the request has changed. Look at it again');
  }, [shown.hasChanged]);
  const focus = (selector: string): void =>
    queueMicrotask(() => section.current?.querySelector<HTMLElement>(selector)?.focus({ preventScroll: true }));
  const close = (): void => {
    setForm(undefined);
    focus(`[data-form=${form}]`);
  };
  const answer = (given: GivenAnswer): void => {
    if (!isArmed || isBusy) return;
    forgetHint();
    const about = {
      workflowId: request.workflowId,
      requestId: request.requestId,
      digest: request.digest,
      viewed: viewedSince(shown.shownAtMs, {
        card: card.digest,
        userMessages: request.userMessages?.count ?? 0,
        ...(request.preview?.state === 'ready' && { preview: request.preview.bound?.digest }),
      }),
      sentence: card.sentence,
    };
    if (!given.approved) return sendDecision(given, about);
    holdDecision(given, { ...about, summary: answerSummary(request, given) }, { request, isPart });
    // The form of an edit stays open. If the tool's schema refuses the new arguments, the form says why.
    if (given.modifiedArguments === undefined) goToNext(request);
  };
  const takeBack = (): void => {
    forgetDecision(request);
    announceText('Undone. Nothing was sent.');
    focus(form === undefined ? '[data-form=approve]' : 'form [type=submit]');
  };
  const open = (name: FormName) => () => {
    if (!isArmed || isBusy || form !== undefined || (['comment', 'edit', 'always'].includes(name) && why !== undefined))
      return;
    setForm(name);
  };
  const focusApprove = (): void => {
    if (form !== undefined || isBusy) return;
    section.current?.querySelector<HTMLElement>('[data-form=approve]')?.focus({ preventScroll: true });
    announceText(why ?? hint);
  };
  useEffect(() => {
    if (!isArmed || prepared === undefined) return;
    if (prepared === 'deny') open('deny')();
    else focusApprove();
  }, [isArmed]);
  const mayAnswer = me === undefined || (me.roles.includes('reviewer') && waitsFor !== 'others');
  // Only a named reviewer can be replaced by another person.
  const canMove = !isPart && me?.roles.includes('operator') === true && request.reviewers.length > 0;
  const canAlways = scopes !== undefined && scopes.length > 0;
  const actions: AnswerActions = {
    ...(mayAnswer && { deny: open('deny'), approve: focusApprove }),
    ...(mayAnswer &&
      !isPart && {
        comment: open('comment'),
        ...(request.shown === 'all' && request.replaces?.by !== 'unknown' && { edit: open('edit') }),
        respond: open('respond'),
        ...(canAlways && { always: open('always') }),
        ...(request.deadline !== null && { extend: open('extend') }),
        ...(waitsFor === 'you' && { delegate: open('delegate') }),
      }),
    ...(canMove && { move: open('move') }),
  };
  useAnswerKeys(actions);
  useShortcuts(form === undefined || isBusy ? {} : { Escape: close });
  useEffect(() => forgetHint, []);
  const forms = { request, cancel: close, isBusy };
  const moveForm = form === 'move' && <MoveForm {...forms} then={() => void live.reload()} />;
  if (!mayAnswer) {
    const moveButton = canMove && form === undefined && (
      <p class="buttons">
        <Button data-form="move" aria-disabled={!isArmed} onClick={open('move')}>
          Move …
        </Button>
      </p>
    );
    return (
      <NotYours
        request={request}
        me={me}
        reload={() => void live.reload()}
        isReviewer={me.roles.includes('reviewer')}
        parent={section}
        foot={moveForm || moveButton}
      >
        <DecisionNote state={decision} request={request} />
      </NotYours>
    );
  }
  const classes = ['answers', ...(isUnfolded ? ['all'] : []), ...(form !== undefined && !isBusy ? ['with-form'] : [])];
  return (
    <section class={classes.join(' ')} aria-label="Your answer" ref={section}>
      {!(form === 'edit' && decision.kind === 'refused') && <DecisionNote state={decision} request={request} />}
      {decision.kind === 'delayed' && (
        <UndoBar held={decision.held} undo={takeBack}>
          <Marked text={decision.summary} />
        </UndoBar>
      )}
      {why !== undefined && form === undefined && (
        <p id="why-not" class="soft small">
          {why}
        </p>
      )}
      <div hidden={isBusy}>
        {form === 'deny' && <DenyForm {...forms} send={answer} />}
        {form === 'comment' && <CommentForm {...forms} send={answer} />}
        {form === 'respond' && <RespondForm {...forms} send={answer} />}
        {form === 'edit' && <EditForm {...forms} send={answer} state={decision} />}
        {form === 'always' && canAlways && <AlwaysForm {...forms} send={answer} scopes={scopes} />}
        {form === 'extend' && <ExtendForm {...forms} then={() => void live.reload()} />}
        {form === 'delegate' && <HandOverForm {...forms} then={() => void live.reload()} />}
        {moveForm}
        {form === undefined && (
          <AnswerBar
            open={open}
            approve={() => {
              if (why === undefined) answer({ approved: true });
              else announceText(why, 'bad');
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

const hint = 'Press Enter to approve.';

function forgetHint(): void {
  if (announcement.get()?.text === hint) announcement.set(undefined);
}

const mostChanges = 5;

/** Says what a delayed approval approves, such as `Approved with your changes: amount 20 → 30`. */
function answerSummary(request: Pick<ApprovalDetails, 'arguments' | 'toolName'>, answer: GivenAnswer): string {
  const { modifiedArguments, always, reason } = answer;
  if (modifiedArguments !== undefined) {
    const changes = valueChanges(request.arguments, modifiedArguments);
    const more = changes.length > mostChanges ? `, and ${changes.length - mostChanges} more` : '';
    return `Approved with your changes: ${changes.slice(0, mostChanges).join(', ')}${more}`;
  }
  if (typeof always !== 'object') return reason === undefined ? 'Approved' : 'Approved with your comment';
  const scopes = {
    call: 'and the same call again',
    arguments: `and further calls of ${shownName(request.toolName)} that match`,
    tool: `and every further call of ${shownName(request.toolName)}`,
  } as const;
  return `Approved, ${scopes[always.kind]}`;
}

/** True once the text that appeared at `shownAtMs` has been on the screen for `armingMs`. */
function useArmed(shownAtMs: number): boolean {
  const [armedFor, setArmedFor] = useState<number>();
  useEffect(() => {
    const timer = setTimeout(() => setArmedFor(shownAtMs), Math.max(0, shownAtMs + armingMs - Date.now()));
    return () => clearTimeout(timer);
  }, [shownAtMs]);
  return armedFor === shownAtMs;
}

export type FormName = Exclude<AnswerName, 'approve'>;

interface AnswerBarProps {
  open: (name: FormName) => () => void;
  approve: () => void;
  actions: AnswerActions;
  isArmed: boolean;
  isBlocked: boolean;
  /** True: a narrow screen shows the further answers, too. A wide screen always shows them. */
  isUnfolded: boolean;
  unfold: (isUnfolded: boolean) => void;
}

const further: readonly [name: FormName, label: string, approves: boolean][] = [
  ['comment', 'Approve with a comment …', true],
  ['edit', 'Edit …', true],
  ['respond', 'Respond …', false],
  ['always', 'Always …', true],
  ['extend', 'Extend …', false],
  ['delegate', 'Hand over …', false],
  ['move', 'Move …', false],
];

/** The buttons of the answers. The prominent one is Deny, because it permits least. */
export function AnswerBar({ open, approve, actions, isArmed, isBlocked, isUnfolded, unfold }: AnswerBarProps) {
  const describedBy = (approves: boolean): string | undefined => (approves && isBlocked ? 'why-not' : undefined);
  return (
    <div class="bar">
      <Button class="primary" data-form="deny" aria-disabled={!isArmed} onClick={open('deny')}>
        Deny …
      </Button>
      <Button
        data-form="approve"
        aria-disabled={!isArmed || isBlocked}
        aria-describedby={describedBy(true)}
        onClick={(event) => {
          // The second click of a double click may be meant for the previous screen.
          if (event.detail <= 1) approve();
        }}
      >
        Approve
      </Button>
      {further.map(
        ([name, label, approves]) =>
          actions[name] !== undefined && (
            <Button
              key={name}
              class="secondary"
              data-form={name}
              aria-disabled={!isArmed || (approves && isBlocked)}
              aria-describedby={describedBy(approves)}
              onClick={open(name)}
            >
              {label}
            </Button>
          ),
      )}
      <Button class="quiet unfold" aria-expanded={isUnfolded} onClick={() => unfold(!isUnfolded)}>
        {isUnfolded ? 'Less' : 'More …'}
      </Button>
    </div>
  );
}

/** Makes the answers available by keys, and in the command palette, while the component is shown. */
export function useAnswerKeys(actions: AnswerActions): void {
  const latest = useRef(actions);
  latest.current = actions;
  const names = Object.keys(actions).join(' ');
  useEffect(() => {
    const entries = Object.keys(latest.current).map((name) => [name, () => run(name as AnswerName)]);
    answerActions.set(Object.fromEntries(entries));
    return () => answerActions.set({});
  }, [names]);
  const run = (name: AnswerName): void => latest.current[name]?.();
  useShortcuts({
    a: () => run('approve'),
    A: () => run('always'),
    d: () => run('deny'),
    e: () => run('edit'),
    r: () => run('respond'),
    t: () => run('extend'),
  });
}

interface NotYoursProps {
  request: ApprovalDetails;
  me: { id: string };
  reload: () => void;
  isReviewer: boolean;
  parent: RefObject<HTMLElement | null>;
  children: ComponentChildren;
  foot: ComponentChildren;
}

/** Replaces the answers for people who may not answer now. If anyone could, they have voted or passed on their seat. */
export function NotYours({ request, me, reload, isReviewer, parent, foot, children }: NotYoursProps) {
  const who = whoCanAnswer(request);
  return (
    <section class="answers" aria-label="Your answer" ref={parent}>
      {children}
      {isReviewer ? (
        <>
          <p>
            <strong>
              {who === undefined ? (
                'This request waits for others.'
              ) : (
                <>
                  Waiting for <Foreign text={who} most={600} />.
                </>
              )}
            </strong>
          </p>
          <TakeBack request={request} me={me} then={reload} />
          {request.reviewers.length === 0 && <p>You have voted or passed your seat on.</p>}
        </>
      ) : (
        <p>
          You can look at requests but not answer them. Answering needs the role reviewer: ask the operator of this
          gateway.
        </p>
      )}
      {foot}
    </section>
  );
}
