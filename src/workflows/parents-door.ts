/** How a nested run hears that what binds the run above it has changed (docs/decisions/0018). */
import { defineSignal, isCancellation, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { ReadParents } from '../activities/read-parents.ts';
import { activityNames, parentsChangedName } from '../contract.ts';
import type { Receipt } from '../core/approval.ts';
import { byteLength } from '../core/byte-length.ts';
import { inheritedBeside, maxInheritedBytes } from '../core/nesting.ts';
import type { Policy } from '../core/policy.ts';
import type { ProblemCode } from '../core/problem.ts';
import { isUndecodable, sizeOf } from '../core/undecodable.ts';
import type { SignalEventId } from './activation.ts';
import type { Book } from './book.ts';
import type { DeadlineWatch } from './deadline-watch.ts';
import { reconsider } from './reconsider.ts';
import type { RulesInForce } from './rules-in-force.ts';

const parentsChanged = defineSignal<[unknown, SignalEventId?]>(parentsChangedName);

/** Tried until a worker answers: what this run may do depends on it. */
const { [activityNames.readParents]: readParents } = proxyActivities<{ [activityNames.readParents]: ReadParents }>({
  startToCloseTimeout: '30s',
  summary: 'Does the calling run say that its policies changed?',
});

/** No calling run sends more; in bytes. */
const longest = maxInheritedBytes + 1_000;

/** The rules of the run, as they are when they are looked at, and how to put it under other parents. */
export interface InheritingRules {
  current: () => RulesInForce;
  inherit: (parents: Policy[]) => void;
}

export function openParentsDoor(book: Book, watch: DeadlineWatch, rules: InheritingRules): void {
  const { parent, runId } = workflowInfo();
  // In any other workflow it is a signal under a name that nobody handles.
  if (parent === undefined) return;
  /** One after another: together they would not fit the message that a task's answer is. */
  let before: Promise<unknown> = Promise.resolve();
  setHandler(parentsChanged, (message, eventId = '') => onSignal(message, eventId));

  function onSignal(message: unknown, eventId: string): void {
    if (!book.isGoverned) return book.whenGoverned(() => onSignal(message, eventId), eventId);
    if (isUndecodable(message)) refuse(message, 'undecodable');
    // A workflow of one's own with a gate has no parents to be told of.
    else if (rules.current().options.onParents === undefined) refuse(message, 'invalid_decision');
    else if (byteLength(JSON.stringify(message ?? null)) > longest) refuse(message, 'too_large');
    else void follow(message, eventId);
  }

  /** What is open does not expire, nor the run continue as new, before it is known who sent this. */
  async function follow(message: unknown, eventId: string): Promise<void> {
    const release = watch.hold(book.ledger.open.map(({ request }) => request.requestId));
    try {
      const reading = before.then(() => readParents({ runId, eventId, parent: parent!, message }));
      before = reading.catch(() => undefined);
      const read = await book.lookedInto.wait(reading, () => refuse(message, 'run_closed'));
      if ('ended' in read) return;
      if ('isForged' in read) return void refuse(message, 'forbidden');
      rules.inherit(inheritedBeside(rules.current().policies.ceiling, read.policies));
      const reason = `the policies of run '${parent!.workflowId}' changed`;
      reconsider(book, rules.current(), read.atMs, { reason });
    } catch (error) {
      refuse(message, isCancellation(error) ? 'run_closed' : 'internal');
    } finally {
      release();
    }
  }

  function refuse(message: unknown, code: ProblemCode): Receipt {
    book.refuse(code, sizeOf(message));
    return { requestId: '', accepted: false, code, message: '' };
  }
}
