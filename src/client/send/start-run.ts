import { randomBytes, createHash } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { type Caller, type Message, type RunInput, workflowType } from '../../contract.ts';
import { inputProblem } from '../../contract/input-problem.ts';
import { escapeText } from '../../core/base/text.ts';
import type { Mode } from '../../core/policy/modes.ts';
import { ProblemError } from '../../core/base/problem.ts';
import type { JsonObject, Json } from '../../core/base/tool-call.ts';
import { callServer, type Session } from '../server/session.ts';
import { canonicalJson } from '../../core/base/canonical-json.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { readingRemedy } from '../../connection/server-error.ts';
import { readPayload } from '../server/read-payload.ts';
import { parseJson } from '../../core/base/json.ts';

/** Options of `client.start`. All are optional. */
export interface StartOptions {
  /** The workflow id. A used one throws `already_started`. Default: `run-AGENT-RANDOM`. */
  workflowId?: string;
  /**
   * A key that makes a retry safe, instead of `workflowId`: 1 to 1,000 characters. The same key with the same agent,
   * input and options returns the run that it has started, open or closed; with others it throws `already_started`. A
   * key is free again once retention has removed its run.
   */
  idempotencyKey?: string;
  /** The policy of the run: a policy file as JSON. It can only tighten the operator's ceiling. */
  policy?: JsonObject;
  /** The mode of the run's side of the policy; the operator's ceiling keeps its own. */
  mode?: Mode;
  /** The user of the run. */
  caller?: Caller;
  /** Facts for conditions of the policy and for reviewers. */
  metadata?: JsonObject;
  /** If true, the run stays open for further messages (`client.message`), until it is closed or cancelled. */
  session?: boolean;
  /** The task queue of the run. Default: the client's. */
  taskQueue?: string;
}

/** Starts a run and returns its workflow id. The run itself checks, on a worker, that the agent exists. */
export async function startRun(
  session: Session,
  agent: string,
  input: string | Message[],
  options: StartOptions & { taskQueue: string },
): Promise<string> {
  const problem = inputProblem(input);
  if (problem !== undefined) throw new ProblemError(problem);
  const { policy, mode, caller, metadata, session: keepsOpen = false, taskQueue, idempotencyKey } = options;
  const runInput: RunInput = { agent, input, policy, mode, caller, metadata, ...(keepsOpen && { session: true }) };
  const keyed = idempotencyKey === undefined ? undefined : keyedStart(options, runInput);
  const workflowId = keyed?.workflowId ?? options.workflowId ?? `run-${agent}-${randomBytes(6).toString('hex')}`;
  const shownAgent = escapeText(agent).slice(0, 100);
  await callServer(
    session,
    async () => {
      try {
        await session.client.workflow.start(workflowType, {
          workflowId,
          taskQueue,
          args: [runInput],
          ...(keyed !== undefined && { memo: { [startMemoName]: keyed.inputDigest } }),
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          workflowIdConflictPolicy: 'FAIL',
          // The input is left out: lists show summaries and details (I13).
          staticSummary: `Agent ${shownAgent}`,
          staticDetails: `Agent \`${shownAgent}\`. Look at it with \`countersign show ${escapeText(workflowId)}\`, at what waits for a person with \`countersign approvals\`. If Current Details are empty, no worker lives: Timeline and Memo then show what waits.`,
        });
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        if (keyed !== undefined) return requireSameStart(session, keyed, error);
        const message = `Run '${workflowId}' exists already: choose another id, or look at it with \`countersign show\`.`;
        throw new ProblemError({ code: 'already_started', message }, { cause: error });
      }
    },
    { workflowId },
  );
  return workflowId;
}

/** The name of the memo with the digest of a run's `idempotencyKey` and input. */
export const startMemoName = 'approvalStart';

export interface KeyedStart {
  workflowId: string;
  /** The digest of key and input, 64 hex characters. A reader without the key cannot find the input by trial. */
  inputDigest: string;
}

const longestKey = 1_000;

/** Returns the workflow id of a key, and the digest of key and input. Throws `internal` for an invalid key. */
export function keyedStart(
  { idempotencyKey, workflowId }: { idempotencyKey?: string; workflowId?: string },
  input: RunInput,
): KeyedStart {
  if (workflowId !== undefined) {
    throw internalProblem('a run has a workflowId or an idempotencyKey, not both: the key becomes the id');
  }
  const isSound = typeof idempotencyKey === 'string' && idempotencyKey !== '' && idempotencyKey.length <= longestKey;
  if (!isSound) throw internalProblem(`an idempotencyKey is a text of 1 to ${longestKey} characters`);
  // Undefined members are not sent, so they do not count.
  const sent = parseJson(JSON.stringify(input)) as Json;
  return {
    workflowId: `key-${sha256(idempotencyKey).slice(0, 40)}`,
    inputDigest: sha256(canonicalJson([idempotencyKey, sent])),
  };
}

/**
 * Throws `already_started` unless the same key has started the run with the same input. Anyone who starts a run writes
 * the memo, so it is no proof; it only keeps one key from starting two different runs.
 */
export async function requireSameStart(session: Session, start: KeyedStart, cause: unknown): Promise<void> {
  const { connection, namespace } = session;
  const { workflowId, inputDigest } = start;
  // A run keeps its memo when it continues as new.
  const run = await connection.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } });
  const payload = run.workflowExecutionInfo?.memo?.fields?.[startMemoName];
  const value = payload == null ? undefined : await readPayload(session, payload);
  if (value === inputDigest) return;
  if (isUndecodable(value)) {
    const message = `This idempotency key has started run '${workflowId}', and what it has started cannot be read here: ${value.why}. ${readingRemedy}`;
    throw new ProblemError({ code: 'undecodable', message }, { cause });
  }
  const message = `This idempotency key has started run '${workflowId}' with another agent, input or options: use a new key for a new run.`;
  throw new ProblemError({ code: 'already_started', message }, { cause });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function internalProblem(message: string): ProblemError {
  return new ProblemError({ code: 'internal', message });
}
