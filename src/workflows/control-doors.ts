/** What a reviewer or an operator sends besides decisions: more time, another seat, fewer grants, another policy. */
import { isCancellation, proxyActivities } from '@temporalio/workflow';
import type { ReadPolicy } from '../activities/read-policy.ts';
import { activityNames, messageNames } from '../contract.ts';
import type { Receipt } from '../core/approval.ts';
import {
  instantMs,
  readDelegate,
  readExtend,
  readRevoke,
  readSetPolicy,
  type DelegateMessage,
  type ExtendMessage,
  type RevokeMessage,
  type SetPolicyMessage,
} from '../core/control.ts';
import type { Voter } from '../core/entitlement.ts';
import type { Grant } from '../core/grants.ts';
import { presumedSender, type Sender } from '../core/identify.ts';
import { latestDeadlineMs } from '../core/latest-deadline.ts';
import type { LedgerCommand } from '../core/ledger.ts';
import { findRequest } from '../core/ledger.ts';
import type { Problem, ProblemCode } from '../core/problem.ts';
import type { PolicyChange } from '../core/run-side.ts';
import type { SignedAction } from '../core/signature.ts';
import { sizeOf } from '../core/undecodable.ts';
import { answerOnce } from './answer-once.ts';
import type { Book } from './book.ts';
import type { DeadlineWatch } from './deadline-watch.ts';
import { openDoor, welcome } from './message-door.ts';
import { reconsider } from './reconsider.ts';
import type { RulesInForce } from './rules-in-force.ts';
import { senderOf } from './sender.ts';

const readPolicy = proxyActivities<{ [activityNames.readPolicy]: ReadPolicy }>({
  startToCloseTimeout: '30s',
  retry: { maximumAttempts: 5 },
  summary: 'Is the new policy good?',
})[activityNames.readPolicy];

/** The rules of the run, as they are when they are looked at, and how to change them. */
export interface ChangingRules {
  current: () => RulesInForce;
  change: (change: PolicyChange) => void;
}

/** Characters: what is wrong may name what stands there, however long. */
const longestProblem = 1_000;

type Control = ExtendMessage | DelegateMessage | RevokeMessage | SetPolicyMessage;

export function openControlDoors(book: Book, watch: DeadlineWatch, rules: ChangingRules): void {
  let lastChange: Promise<unknown> = Promise.resolve();
  const ofOne = ({ requestId }: { requestId: string }): string[] => [requestId];
  const ofAll = (): string[] => book.ledger.open.map(({ request }) => request.requestId);
  const once = answerOnce(book);

  openDoor<ExtendMessage>(
    { name: messageNames.extend, read: readExtend, concerns: ofOne, ...once('extend', onRequest('extend', extension)) },
    book,
    watch,
  );
  openDoor<DelegateMessage>(
    {
      name: messageNames.delegate,
      read: readDelegate,
      concerns: ofOne,
      ...once('delegate', onRequest('delegate', delegation)),
    },
    book,
    watch,
  );
  openDoor<RevokeMessage>(
    {
      name: messageNames.revoke,
      read: readRevoke,
      concerns: () => [],
      isOrdered: true,
      ...once('revoke', { preview: previewRevoke, apply: revoke }),
    },
    book,
    watch,
  );
  openDoor<SetPolicyMessage>(
    {
      name: messageNames.setPolicy,
      read: readSetPolicy,
      concerns: ofAll,
      isOrdered: true,
      ...once('setPolicy', { preview: previewSetPolicy, apply: setPolicy }),
    },
    book,
    watch,
  );

  function extension(message: ExtendMessage, atMs: number, voter: Voter): LedgerCommand {
    const found = findRequest(book.ledger, message.requestId);
    const latestMs = found === undefined ? null : latestDeadlineMs(found, rules.current().policies);
    return { kind: 'extend', atMs, ...pick(message), untilMs: instantMs(message.until)!, latestMs, voter };
  }

  function delegation(message: DelegateMessage, atMs: number, voter: Voter): LedgerCommand {
    return { kind: 'delegate', atMs, ...pick(message), to: message.to, voter };
  }

  function previewRevoke(message: RevokeMessage): Receipt {
    const sender = supposedSender('revoke', message);
    if ('problem' in sender) return refused(message, sender.problem);
    const loosened = lifting(message, sender);
    if ('code' in loosened) return refused(message, loosened);
    const receipt = book.preview(revocation(message, Date.now(), sender));
    // What was sent before may leave the very grant.
    return receipt.code === 'grant_unknown' && watch.hasParked ? welcome : receipt;
  }

  function revoke(message: RevokeMessage, atMs: number): Receipt {
    const gone = namedBy(message);
    const sender = senderOf('revoke', message, rules.current(), book);
    if ('problem' in sender) return refuse(message, sender.problem.code, sender.problem.message);
    const loosened = lifting(message, sender);
    if ('code' in loosened) return refuse(message, loosened.code, loosened.message);
    // Where its time could not be found out it came now, past what it would have been in time for.
    const command = revocation(message, Math.min(atMs, Date.now()), sender);
    const receipt = book.answer({ ...command, ...loosened }, sizeOf(message));
    if (!receipt.accepted) return receipt;
    if (message.grants === 'all') book.lastRevocation = command;
    const ids = gone.map(({ grantId }) => grantId);
    return { ...receipt, message: ids.length === 0 ? 'there was no grant to revoke' : `revoked ${ids.join(', ')}` };
  }

  function revocation({ grants, reason }: RevokeMessage, atMs: number, { voter }: Sender) {
    return { kind: 'revoke', atMs, grants, voter, ...(reason && { reason }) } as const;
  }

  function namedBy({ grants }: RevokeMessage): Grant[] {
    return book.ledger.grants.filter(({ grantId }) => grants === 'all' || grants.includes(grantId));
  }

  /** To lift a standing denial is to loosen. */
  function lifting(message: RevokeMessage, sender: Sender): { operatorMs?: number } | Problem {
    return namedBy(message).some(({ approved }) => !approved) ? loosening(message, sender) : {};
  }

  function previewSetPolicy(message: SetPolicyMessage): Receipt {
    const sender = supposedSender('setPolicy', message);
    const problem = 'problem' in sender ? sender.problem : loosening(message, sender);
    return 'code' in problem ? refused(message, problem) : welcome;
  }

  /** Changes are made one after another, in the order in which they came; what is open waits for the answer. */
  async function setPolicy(message: SetPolicyMessage, atMs: number): Promise<Receipt> {
    const { policy: document, mode, reason } = message;
    const sender = senderOf('setPolicy', message, rules.current(), book);
    if ('problem' in sender) return refuse(message, sender.problem.code, sender.problem.message);
    const loosened = loosening(message, sender);
    if ('code' in loosened) return refuse(message, loosened.code, loosened.message);
    const ended = (): Receipt => refuse(message, 'run_closed', 'the run ended before it took the policy');
    const release = watch.hold(ofAll());
    const before = lastChange;
    let done = (): void => {};
    lastChange = new Promise<void>((resolve) => (done = resolve));
    try {
      const read = await book.lookedInto.wait(before.then(readNew), ended);
      if ('ended' in read) return read.ended;
      if ('code' in read) return refuse(message, read.code, read.message);
      if ('problem' in read)
        return refuse(message, 'policy_invalid', `the new policy: ${read.problem.slice(0, longestProblem)}`);
      rules.change({ ...read, ...(mode && { mode }) });
      const change = { voter: sender.voter, ...loosened, ...(reason && { reason }) };
      const { policyDigest, settled } = reconsider(book, rules.current(), atMs, change);
      const which = settled.map(({ requestId, outcome }) => `${requestId} ${outcome}`).join(', ');
      return {
        requestId: '',
        accepted: true,
        settled,
        message: `the policy is ${policyDigest.slice(0, 16)}…; settled: ${which || 'nothing'}`,
      };
    } catch (error) {
      if (isCancellation(error)) return ended();
      return refuse(message, 'internal', 'the new policy could not be read: send it again');
    } finally {
      release();
      done();
    }

    async function readNew(): Promise<Problem | Awaited<ReturnType<ReadPolicy>> | { policy?: undefined }> {
      // Once more: the same signed message may have been applied meanwhile, and a later one after it.
      const still = loosening(message, sender as Sender);
      if ('code' in still) return still;
      if (document === undefined) return {};
      const maxTimeoutMs = rules.current().policies.ceiling?.approval.maxTimeoutMs;
      return readPolicy({ policy: document, ...(maxTimeoutMs === undefined ? {} : { maxTimeoutMs }) });
    }
  }

  /** What is asked of one request, and is answered at once. */
  function onRequest<Message extends ExtendMessage | DelegateMessage>(
    action: 'extend' | 'delegate',
    commandOf: (message: Message, atMs: number, voter: Voter) => LedgerCommand,
  ): { preview: (message: Message) => Receipt; apply: (message: Message, atMs: number) => Receipt } {
    return {
      preview: (message) => {
        const sender = supposedSender(action, message);
        if ('problem' in sender) return refused(message, sender.problem);
        return book.preview(commandOf(message, Date.now(), sender.voter));
      },
      apply: (message, atMs) => {
        const sender = senderOf(action, message, rules.current(), book);
        if ('problem' in sender) return refuse(message, sender.problem.code, sender.problem.message);
        return book.answer(commandOf(message, atMs, sender.voter), sizeOf(message));
      },
    };
  }

  /** Who sent it if its signature holds. A validator looks at none: each is counted, and a validator changes nothing. */
  function supposedSender(action: SignedAction, message: Control): Sender | { problem: Problem } {
    return presumedSender({ action, message }, rules.current().policies.ceiling);
  }

  /**
   * Where the ceiling names operators, only they loosen (I10). A message of theirs counts once: one that was signed
   * no later than the last does not come back.
   */
  function loosening(message: Control, { operator }: Sender): { operatorMs?: number } | Problem {
    const keys = Object.values(rules.current().policies.ceiling?.reviewerKeys ?? {});
    if (!keys.some((key) => key.operator)) return {};
    const code = 'not_permitted_by_ceiling';
    const operatorMs = instantMs(message.signature?.signedAt);
    if (!operator || operatorMs === undefined) {
      return {
        code,
        message: `only an operator loosens what this run may do: sign the message with an operator's key`,
      };
    }
    if (operatorMs > book.ledger.operatorMs) return { operatorMs };
    return { code, message: `a message signed no earlier than this one was applied already: sign it again` };
  }

  function refuse(message: Control, code: ProblemCode, sentence: string): Receipt {
    const receipt = refused(message, { code, message: sentence });
    book.refuse(code, sizeOf(message), receipt.requestId);
    return receipt;
  }
}

function refused(message: Control, problem: Problem): Receipt {
  return { requestId: 'requestId' in message ? message.requestId : '', accepted: false, ...problem };
}

function pick({ requestId, reason }: ExtendMessage | DelegateMessage): { requestId: string; reason?: string } {
  return { requestId, ...(reason !== undefined && { reason }) };
}
