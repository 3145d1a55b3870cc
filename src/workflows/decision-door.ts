/** Decisions: by signal and by update, one or many, with edited arguments or without. */
import { isCancellation, proxyActivities } from '@temporalio/workflow';
import type { CheckEdit } from '../activities/check-edit.ts';
import { activityNames, decideName } from '../contract.ts';
import { answerBefore } from '../core/admission.ts';
import type { Receipt } from '../core/approval.ts';
import { parseDecision, type ParsedDecision } from '../core/decision.ts';
import { callDigest, jsonDigest } from '../core/digest.ts';
import type { Voter } from '../core/entitlement.ts';
import type { BookedRequest, CheckedEdit, LedgerCommand } from '../core/ledger.ts';
import { findRequest } from '../core/ledger.ts';
import { presumedSender, type Sender } from '../core/identify.ts';
import { latestDeadlineMs } from '../core/latest-deadline.ts';
import type { Problem, ProblemCode } from '../core/problem.ts';
import { notSplit, type ShellSplit } from '../core/shell-parts.ts';
import type { Json } from '../core/tool-call.ts';
import { sizeOf } from '../core/undecodable.ts';
import type { Book } from './book.ts';
import type { DeadlineWatch } from './deadline-watch.ts';
import { openDoor } from './message-door.ts';
import { bookRequest } from './book-request.ts';
import type { RulesInForce } from './rules-in-force.ts';
import { senderOf } from './sender.ts';

const checkEdit = proxyActivities<{ [activityNames.checkEdit]: CheckEdit }>({
  startToCloseTimeout: '1m',
  retry: { maximumAttempts: 5 },
  summary: 'Are the edited arguments good?',
})[activityNames.checkEdit];

/** `rules`: those in force when it is called. */
export function openDecisionDoor(book: Book, watch: DeadlineWatch, rules: () => RulesInForce): void {
  /** By request: the edit that is being checked. */
  const underCheck = new Map<string, { said: string | undefined; answer: Promise<Receipt> }>();
  openDoor<ParsedDecision>(
    {
      name: decideName,
      takesLists: true,
      read: (value) => {
        const parsed = parseDecision(value);
        return 'problem' in parsed ? parsed : { message: parsed.decision };
      },
      concerns: ({ requestId }) => [requestId],
      preview: (decision) => {
        const supposed = supposedSender(decision);
        if ('problem' in supposed) return { requestId: decision.requestId, accepted: false, ...supposed.problem };
        const receipt = book.preview({ kind: 'decide', atMs: Date.now(), decision, voter: supposed.voter });
        return receipt.code === undefined && isInTheWay(decision) ? inTheWay(decision) : receipt;
      },
      apply,
    },
    book,
    watch,
  );

  function apply(decision: ParsedDecision, atMs: number): Receipt | Promise<Receipt> {
    const answering = checkOf(decision);
    if (answering !== undefined) return answering;
    const from = supposedSender(decision);
    if ('problem' in from) return refuse(decision, from.problem.code, from.problem.message);
    const supposed = { kind: 'decide', atMs, decision, voter: from.voter } as const;
    // Whoever sent it: what would change nothing costs no look at its signature.
    if (book.preview(supposed).code !== undefined) return book.answer(supposed, sizeOf(decision));
    const sender = senderOf('decide', decision, rules(), book);
    if ('problem' in sender) return refuse(decision, sender.problem.code, sender.problem.message);
    const command = { ...supposed, voter: sender.voter };
    const open = book.ledger.open.find(({ request }) => request.requestId === decision.requestId);
    if (decision.modifiedArguments === undefined || open === undefined) {
      return book.answer(command, sizeOf(decision));
    }
    if (isInTheWay(decision)) return refuse(decision, 'rate_limited', inTheWay(decision).message);
    const { requestId } = decision;
    const answer = applyEdited(decision, sender.voter, atMs, open).finally(() => underCheck.delete(requestId));
    underCheck.set(requestId, { said: saidBy(decision), answer });
    return answer;
  }

  /** The answer to come where this very decision is being checked, sent again under its id. */
  function checkOf(decision: ParsedDecision): Promise<Receipt> | undefined {
    const checked = underCheck.get(decision.requestId);
    return checked?.said !== undefined && checked.said === saidBy(decision) ? checked.answer : undefined;
  }

  /** Whether another edit of its request is being checked. */
  function isInTheWay(decision: ParsedDecision): boolean {
    const { requestId, modifiedArguments } = decision;
    return modifiedArguments !== undefined && underCheck.has(requestId) && checkOf(decision) === undefined;
  }

  /** The request does not expire, nor the run continue as new, while the edit is looked into; others may answer it. */
  async function applyEdited(
    decision: ParsedDecision,
    voter: Voter,
    atMs: number,
    { request, ruled }: BookedRequest,
  ): Promise<Receipt> {
    const { requestId, modifiedArguments = {} } = decision;
    const revokedBefore = book.lastRevocation;
    const ended = (): Receipt =>
      refuse(decision, 'run_closed', `the run ended while the edit of request ${requestId} was being checked`);
    const release = watch.hold([requestId]);
    try {
      const { agentName: agent, toolName: tool } = request;
      const checked = await book.lookedInto.wait(checkEdit({ agent, tool, args: modifiedArguments }), ended);
      if ('ended' in checked) return checked.ended;
      if ('problem' in checked) return refuse(decision, 'arguments_invalid', checked.problem);
      const { args, shell, assessment } = checked;
      const digest = callDigest({ tool, args, definition: ruled.definition });
      const command = { kind: 'decide', atMs, decision, voter } as const;
      const found = findRequest(book.ledger, requestId);
      if (digest === request.digest || found === undefined || 'settlement' in found) return answer(command);
      const split = splitOf(ruled, shell);
      const { riskLevel: risk } = request;
      const call = { tool, args, risk, ...ruled, ...(split && { shell: split }), digest };
      const ruledCase = rules().rule({ ...call, assessed: assessment }, book.ledger, atMs);
      const { ruling, limits } = ruledCase;
      if (ruling.action === 'deny') {
        return refuse(decision, 'denied_by_policy', ruling.reason ?? `policy denies the edited call of '${tool}'`);
      }
      const { reversible } = ruledCase.assessment;
      const latestMs = latestDeadlineMs(found, rules().policies);
      // The call in whose place this one stands counts already.
      const more = { tool, args, digest, atMs, reversible: reversible || !request.assessment.reversible };
      const before = answerBefore(book.ledger, { action: 'allow' }, more, limits);
      if (before !== undefined) return refuse(decision, 'denied_by_policy', `the edited call: ${before.content}`);
      const edit: CheckedEdit = {
        arguments: args,
        digest,
        reversible,
        ...(ruling.layer === 'grant' && ruling.rule !== null && { grantId: ruling.rule }),
        ...(ruling.action === 'ask' && {
          asked: {
            ruling,
            successor: bookRequest(rules().options, {
              callId: found.callId,
              tool,
              args,
              risk,
              ruled: { ...ruled, ...(split && { shell: split }), ...(assessment && { assessment }) },
              digest,
              ruledCase,
              contextSummary: request.contextSummary,
              lineage: request.lineage,
              replaces: { requestId, by: 'edit' },
              // The check may have taken longer than the call may still be asked about.
              atMs: Math.min(Date.now(), latestMs ?? Infinity),
              latestMs,
            }),
          },
        }),
      };
      return answer({ ...command, edit });
    } catch (error) {
      if (isCancellation(error)) return ended();
      return refuse(decision, 'internal', `the edit of request ${requestId} could not be checked: repeat it`);
    } finally {
      release();
    }

    /** A grant that is left after somebody has revoked all is revoked like those: its decision came before that. */
    function answer(command: LedgerCommand): Receipt {
      const receipt = book.answer(command, sizeOf(decision));
      const { lastRevocation } = book;
      if (receipt.grantId === undefined || lastRevocation === undefined || lastRevocation === revokedBefore)
        return receipt;
      book.apply({ ...lastRevocation, grants: [receipt.grantId] });
      return { ...receipt, message: `${receipt.message}; ${receipt.grantId} is revoked already` };
    }
  }

  function supposedSender(message: ParsedDecision): Sender | { problem: Problem } {
    return presumedSender({ action: 'decide', message }, rules().policies.ceiling);
  }

  function refuse(decision: ParsedDecision, code: ProblemCode, message: string): Receipt {
    const { requestId } = decision;
    book.refuse(code, sizeOf(decision), requestId);
    return { requestId, accepted: false, code, message };
  }
}

/** A subject that the run recorded as a shell command and that was not split now: it is no longer known what it runs (I2). */
function splitOf(
  { subject, shell: before }: BookedRequest['ruled'],
  shell: (ShellSplit & { argument: string }) | undefined,
): ShellSplit | undefined {
  if (shell !== undefined && (subject === undefined || shell.argument === subject)) return shell;
  return before === undefined ? undefined : notSplit;
}

/** What makes two decisions the same one; without an id, none is another's repetition. */
function saidBy(decision: ParsedDecision): string | undefined {
  return decision.decisionId === undefined ? undefined : jsonDigest(decision as unknown as Json);
}

function inTheWay({ requestId }: ParsedDecision): Receipt {
  const message = `another edit of request ${requestId} is being checked: repeat it`;
  return { requestId, accepted: false, code: 'rate_limited', message };
}
