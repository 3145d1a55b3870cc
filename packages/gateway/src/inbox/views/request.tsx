import { useEffect, useRef, useState } from 'preact/hooks';
import type { Card } from 'countersign/card';
import type { ApprovalView } from '../../http/inbox/api.ts';
import type { ApiProblem } from '../api/fetch-json.ts';
import { FailureNote, Marked } from '../parts/shown-text.tsx';
import { Answers } from '../request/answers.tsx';
import { CardArticle } from '../request/card-article.tsx';
import { DecisionNote, Votes } from '../request/decision-note.tsx';
import { goToNext, NextRequest } from '../request/next-request.tsx';
import { StandingNote, requestStanding } from '../request/standing-note.tsx';
import { Brief, callerName } from '../request/brief.tsx';
import { otherAccount } from '../request/named-accounts.ts';
import { RunContext, useRunReading } from '../request/run-context.tsx';
import { forgetDecision, useDecision } from '../request/decisions.ts';
import { whatChanged } from '../request/what-changed.ts';
import { type LoadedRequest, useRequest, useWholeCard } from '../request/use-request.ts';
import { SeverityMark, waitsWords } from '../list/request-row.tsx';
import { LocalTime, TimeLeft, useNow } from '../parts/time.tsx';
import { mayStop, StopAgentDialog } from '../run/stop-agent.tsx';
import type { StoppedRequest } from '../run/stop-steps.ts';
import { currentLocation, inListHref, navigate } from '../state/location.ts';
import { useShortcuts } from '../state/shortcuts.ts';
import { meOf, session } from '../state/me.ts';
import { useStore } from '../state/store.ts';
import type { RequestIds } from '../state/paths.ts';
import { Button } from '../parts/controls.tsx';

export function RequestPage({ params: { workflowId, requestId } }: { params: RequestIds }) {
  const { query } = useStore(currentLocation);
  const live = useRequest(workflowId, requestId);
  const decision = useDecision({ workflowId, requestId }, () => void live.reload());
  const now = useNow();
  const { shown, problem } = live;
  const { whole, unfold } = useWholeCard(shown);
  useShortcuts({ v: unfold, u: toList, Escape: toList, n: () => goToNext({ workflowId, requestId }) });
  const reading = useRunReading(shown?.view.request);
  const standing = shown === undefined ? undefined : requestStanding(shown.view.request, now);
  // True once the request was open on this page, so that `StandingNote` announces its settlement.
  const wasOpen = useRef(false);
  if (standing === 'open') wasOpen.current = true;
  // If another answer settles the request first, the delayed approval is forgotten. `StandingNote` shows that answer.
  useEffect(() => {
    if (standing === 'settled' && decision.kind === 'delayed') forgetDecision({ workflowId, requestId });
  }, [standing]);
  if (shown === undefined) return <NotShown problem={problem} reload={() => void live.reload()} />;
  const { request, card, cardDigest, waitsFor } = shown.view;
  const isOpen = standing === 'open';
  const me = meOf(session.get());
  const isForOthers = waitsFor === 'others' || me?.roles.includes('reviewer') === false;
  return (
    <div class="request">
      <p class="crumbs">
        <a href={inListHref()}>← Inbox</a> <NextRequest workflowId={workflowId} requestId={requestId} />
        {isOpen && <StopAgent view={shown.view} reload={() => void live.reload()} />}
      </p>
      <p class="facts state">
        <SeverityMark severity={request.assessment.severity} />
        {isOpen && <TimeLeft requestedAt={request.requestedAt} deadline={request.deadline} />}
        {isOpen && <span class={`waits ${waitsFor}`}>{waitsWords[waitsFor]}</span>}
      </p>
      {isOpen && shown.view.undelivered === true && (
        <p class="note">No channel could deliver this request yet. It is sent again until one has.</p>
      )}
      {isOpen && shown.view.heldUntil !== undefined && (
        <p class="note">
          The channels hold this request until <LocalTime at={shown.view.heldUntil} />.
        </p>
      )}
      <ReadNote shown={shown} />
      {!isOpen && decision.kind !== 'done' && <DecisionNote state={decision} request={request} />}
      {isOpen && shown.hasChanged && (
        <div class="note" role="alert">
          <p>
            Changed since you opened it: <Marked text={whatChanged(shown.seen, request)} />.
          </p>
          <p class="buttons">
            <Button onClick={live.lookAgain}>Continue</Button>
          </p>
        </div>
      )}
      <div class="columns">
        <CardArticle
          card={whole?.card ?? card}
          warning={reading.asked && otherAccount(callerName(request), reading.asked.text, card.arguments)}
          brief={
            <Brief
              request={request}
              card={whole?.card ?? card}
              reading={reading}
              isForOthers={isForOthers}
              {...(me !== undefined && { me: me.id })}
            />
          }
          unfold={
            shown.part === undefined && !card.whole && request.shown === 'all' && whole === undefined ? (
              <p class="note cut-notice">
                <Marked text={card.cut ?? ''} /> <Button onClick={unfold}>Show everything{sizeText(card)}</Button>
              </p>
            ) : null
          }
        />
        <Votes request={request} />
        {isOpen ? (
          <Answers
            live={live}
            shown={shown}
            decision={decision}
            card={{
              isWhole: shown.part === undefined ? card.whole || whole !== undefined : request.shown === 'all',
              digest: whole?.digest ?? cardDigest,
              sentence: card.sentence.text,
            }}
            prepared={new URLSearchParams(query).get('answer') ?? undefined}
          />
        ) : (
          <StandingNote
            request={request}
            decisionId={decision.kind === 'done' ? decision.decisionId : undefined}
            isNew={wasOpen.current}
          />
        )}
        <RunContext request={request} reading={reading} />
      </div>
    </div>
  );
}

/** The button that opens the dialog to stop the agent. People who may neither deny nor stop do not see it. */
function StopAgent({ view: { request, card, waitsFor }, reload }: { view: ApprovalView; reload: () => void }) {
  const me = meOf(useStore(session));
  const [requests, setRequests] = useState<readonly StoppedRequest[]>();
  const may = mayStop(me, [{ waitsFor }]);
  if (!may.denies && !may.stops) return null;
  const { workflowId, requestId, digest, toolName } = request;
  const stopped = { workflowId, requestId, digest, toolName, sentence: card.sentence.text, waitsFor };
  return (
    <>
      <Button class="quiet" onClick={() => setRequests([stopped])}>
        Stop this agent …
      </Button>
      {requests !== undefined && (
        <StopAgentDialog
          requests={requests}
          may={may}
          onClose={() => {
            setRequests(undefined);
            reload();
          }}
        />
      )}
    </>
  );
}

function sizeText({ raw }: Pick<Card, 'raw'>): string {
  return raw.length < 10_000 ? '' : ` (${Math.round(raw.length / 1_000).toLocaleString('en')} kB)`;
}

function toList(): void {
  navigate(inListHref());
}

/** A note if the page shows only a part of the request, or if the shown text may be outdated. */
function ReadNote({ shown: { part, lost } }: { shown: LoadedRequest }) {
  if (lost !== undefined && lost.code !== 'no_worker') {
    const words = 'It could not be read again, so what you see may be old: ';
    return <FailureNote words={words} message={lost.message} isAlert />;
  }
  if (part === 'reading') {
    return (
      <p class="note plain" role="status">
        Loading the rest of the request …
      </p>
    );
  }
  if (part === undefined && lost === undefined) return null;
  return (
    <p class="note" role="status">
      The agent's worker is not running, so{' '}
      {part === undefined ? 'this may be old' : 'only part of this request is shown'}. Your answer is recorded, and
      counts when it runs again.
    </p>
  );
}

function NotShown({ problem, reload }: { problem: ApiProblem | undefined; reload: () => void }) {
  return problem === undefined ? (
    <p class="note plain">Loading the request …</p>
  ) : (
    <section class="narrow">
      <h1>This request cannot be shown</h1>
      <FailureNote message={problem.message} isAlert />
      <p class="buttons">
        <Button onClick={() => reload()}>Try again</Button>
        <a class="button" href={inListHref()}>
          To the inbox
        </a>
      </p>
    </section>
  );
}
