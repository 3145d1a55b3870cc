import { personsShown } from 'countersign/base';
import { type Card, headings } from 'countersign/card';
import type { ApprovalDetails } from 'countersign/client';
import { Row } from '../parts/tables.tsx';
import { LocalTime } from '../parts/time.tsx';
import { requestHref } from '../state/location.ts';
import { Foreign, Folded, ShownText } from '../parts/shown-text.tsx';
import { EscalationNote } from '../parts/escalation-note.tsx';
import { callsText } from './run-past.ts';
import { isUrgentRow, RowTexts } from './card-article.tsx';
import type { RunReading } from './run-context.tsx';
import { whoCanAnswer } from './who-answers.ts';

interface BriefProps {
  request: ApprovalDetails;
  card: Card;
  reading: RunReading;
  me?: string;
  /** True: other people must answer. The section with the answers already names them. */
  isForOthers: boolean;
}

/** What a reviewer reads first below the sentence: who asked for what, why, who can answer, and earlier calls. */
export function Brief({ request, card, reading, me, isForOthers }: BriefProps) {
  const { asked, task, past, callingAgent, isPart } = reading;
  const isNested = request.lineage.length > 0;
  const caller = callerName(request);
  const isMineAlone = request.approvers?.length === 1 && request.approvers[0] === me;
  const isEscalated = request.settled === undefined && request.escalated !== undefined;
  const who = isForOthers || (isMineAlone && !isEscalated) ? undefined : whoCanAnswer(request);
  const words = wordsOf(request, reading);
  const calling = callingAgent === undefined ? 'The calling agent' : `The agent ${callingAgent}`;
  return (
    <dl class="brief">
      <Row label={<Foreign text={`${caller} asked`} most={100} />}>
        {asked === undefined ? (
          <p class="soft">{reading.isRead ? 'No message of the user was found.' : 'Loading …'}</p>
        ) : (
          <Quote text={asked.text} />
        )}
      </Row>
      {isNested && task !== undefined && (
        <Row label={<Foreign text={`${calling} asked`} most={100} />}>
          <Quote text={task} />
        </Row>
      )}
      <Row label="Agent">
        <Foreign text={request.agentName} most={100} />
      </Row>
      {words !== undefined && card.words !== undefined && (
        <Row label={words}>
          <Folded length={card.words.text.length}>
            <span class="quote">
              <ShownText text={card.words} />
            </span>
          </Folded>
        </Row>
      )}
      <Row label={headings.why}>
        <ShownText text={card.reason} />
      </Row>
      {card.why.filter(isUrgentRow).map((row) => (
        <Row key={row.label} label={row.label}>
          <RowTexts row={row} />
        </Row>
      ))}
      {isEscalated && (
        <Row label="Escalated">
          <EscalationNote {...request} />
        </Row>
      )}
      {who !== undefined && request.settled === undefined && (
        <Row label="Who can answer">
          <Foreign text={who} most={300} />
          {request.approvals !== undefined && request.approvals.need > 1 && `: ${request.approvals.need} must approve`}
        </Row>
      )}
      {request.settled === undefined && request.accounts !== undefined && (
        <Row label="Account">
          {request.accounts.map((account) => (
            <p key={account.argument}>
              <AccountNote account={account} request={request} />
            </p>
          ))}
        </Row>
      )}
      {past !== undefined && (
        <Row label="In this run">
          <Foreign text={callsText(past.calls, isPart)} most={400} />
        </Row>
      )}
    </dl>
  );
}

export function callerName({ callerUserId, people }: ApprovalDetails): string {
  return callerUserId === null ? 'The user' : personsShown(people)(callerUserId);
}

interface AccountNoteProps {
  account: NonNullable<ApprovalDetails['accounts']>[number];
  request: ApprovalDetails;
}

/** Says whether an earlier request of the run had the same bank account. The run compares accounts without masks. */
function AccountNote({ account: { argument, before }, request: { workflowId, people } }: AccountNoteProps) {
  const name = <Foreign text={argument} most={100} />;
  if (before === null) return <>{name}: first request of this run with this account</>;
  const { outcome, reviewerId, reviewerName, at, requestId } = before;
  const who = reviewerId === undefined ? '' : ` by ${personsShown(people)(reviewerId, reviewerName)}`;
  return (
    <>
      {name}: same account as in <a href={requestHref({ workflowId, requestId })}>an earlier request of this run</a> (
      <Foreign text={`${outcome.replaceAll('_', ' ')}${who}`} most={200} />, <LocalTime at={at} />)
    </>
  );
}

/** A message, folded if it is long. A short line counts as 60 characters, because it takes up a line of the page. */
function Quote({ text }: { text: string }) {
  return (
    <Folded length={Math.max(text.length, text.split('\n').length * 60)}>
      <q class="quote">
        <Foreign text={text} lines />
      </q>
    </Folded>
  );
}

/** The label of the text beside the call; undefined if it only repeats the task, which the page shows already. */
function wordsOf({ contextSummary }: ApprovalDetails, { isRead, task, past }: RunReading): string | undefined {
  const text = contextSummary.trim();
  if (task !== undefined && text !== '' && task.trim().startsWith(text)) return undefined;
  if (isRead && past?.isModels(text) === true) return 'What it says (not checked)';
  return headings.words;
}
