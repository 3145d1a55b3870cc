import type { temporal } from '@temporalio/proto';
import { activityNames } from '../contract.ts';
import { isHash, isTree, type TreeState } from '../core/audit/merkle.ts';
import type { RecordedHead } from '../core/audit/audit-line.ts';
import { isObject } from '../core/base/is-object.ts';
import { findCarried } from './find-carried.ts';
import { decoded, isAgentRun, writtenByGate, writtenByRun } from './journal-of.ts';

type Event = temporal.api.history.v1.IHistoryEvent;
type Execution = { runId: string; events: Event[] };

/** What the executions of a run recorded of its tree. */
export interface RecordedTree {
  /** The secret of the salts; undefined in runs of older versions. */
  secret?: string;
  /** The digest of the policies with which it started, or with which its oldest execution did. */
  policyDigest?: string;
  /** The head over the most entries that the run wrote. */
  head?: RecordedHead;
  /** The tree that the oldest execution took over from one that is gone. */
  before?: TreeState;
}

/** Reads the tree's secret and heads from the decoded histories of the executions of a run, oldest first. */
export function recordedTree(executions: readonly Execution[]): RecordedTree {
  const writtenIn = isAgentRun(executions) ? writtenByRun : writtenByGate;
  let head: RecordedHead | undefined;
  for (const { runId, events } of executions) {
    for (const event of events) {
      for (const found of writtenIn(event).map(headIn)) {
        if (found !== undefined && found.size >= (head?.size ?? 0)) {
          head = { ...found, runId, eventId: Number(event.eventId) };
        }
      }
    }
  }
  const taken = takenOver(executions[0], isAgentRun(executions));
  const { secret, policyDigest } = configOf(taken?.config ?? loadedConfig(executions[0]));
  return { secret, policyDigest, head, before: taken?.before };
}

function headIn(value: unknown): { size: number; root: string } | undefined {
  const head = isObject(value) ? value['journalHead'] : undefined;
  if (!isObject(head)) return undefined;
  const { size, root } = head;
  return Number.isSafeInteger(size) && isHash(root) ? { size: size as number, root } : undefined;
}

/** The result of the activity that loaded the policies. */
function loadedConfig(execution: Execution | undefined): unknown {
  const loading = new Set<string>();
  for (const event of execution?.events ?? []) {
    const type = event.activityTaskScheduledEventAttributes?.activityType?.name;
    if (type === activityNames.loadAgent || type === activityNames.loadGate) loading.add(String(event.eventId));
    const completed = event.activityTaskCompletedEventAttributes;
    const payload = completed?.result?.payloads?.[0];
    if (payload == null || !loading.has(String(completed?.scheduledEventId))) continue;
    return decoded(payload);
  }
  return undefined;
}

/** What the oldest execution took over from the one before it, which retention has removed. */
function takenOver(
  execution: Execution | undefined,
  isOfAgent: boolean,
): { config: unknown; before?: TreeState } | undefined {
  const started = execution?.events[0]?.workflowExecutionStartedEventAttributes;
  const before = started?.continuedExecutionRunId;
  if (!before) return undefined;
  const carried = findCarried((started.input?.payloads ?? []).map(decoded), { isAgentRun: isOfAgent, before });
  if (carried === undefined || !isObject(carried['gate'])) return undefined;
  const { state, config, gate } = carried;
  const { tree } = gate as { tree?: unknown };
  return { config: isObject(state) ? state['config'] : config, ...(isTree(tree) && { before: tree }) };
}

function configOf(config: unknown): Pick<RecordedTree, 'secret' | 'policyDigest'> {
  const { auditSalt, policyDigest } = isObject(config) ? config : {};
  return {
    ...(isHash(auditSalt) && { secret: auditSalt }),
    ...(isHash(policyDigest) && { policyDigest }),
  };
}
