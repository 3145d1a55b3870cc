import { randomBytes } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { type Caller, type Message, type RunInput, workflowType } from '../../contract.ts';
import { inputProblem } from '../../contract/input-problem.ts';
import { escapeText } from '../../core/base/text.ts';
import type { Mode } from '../../core/policy/modes.ts';
import { ProblemError } from '../../core/base/problem.ts';
import type { JsonObject } from '../../core/base/tool-call.ts';
import { callServer } from '../server/call-server.ts';
import { keyedStart, requireSameStart, startMemoName } from './keyed-start.ts';
import type { Session } from '../server/connect.ts';

/** How to start a run. Every member is optional. */
export interface StartOptions {
  /** Default `run-AGENT-RANDOM`. An id can be used only once: starting it again throws `already_started`. */
  workflowId?: string;
  /**
   * Makes a retry safe, instead of `workflowId`: 1 to 1,000 characters. The same key with the same agent, input and options gives
   * the handle of the run that it has started, open or closed; with others it throws `already_started`. A key is for one
   * namespace, and is free again once retention has removed its run.
   */
  idempotencyKey?: string;
  /** A policy document: a policy file as JSON. It can only tighten the operator's ceiling. */
  policy?: JsonObject;
  /** Applies to the run's side of the policy, never to the operator's ceiling. */
  mode?: Mode;
  /** The user for whom the run works. */
  caller?: Caller;
  /** Available to conditions of the policy and shown to reviewers. */
  metadata?: JsonObject;
  /** Keeps the run open for further messages of its user (`client.message`), until it is closed or cancelled. */
  session?: boolean;
  /** Default: the client's. */
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
          // Leave out the input: lists show summaries and details (I13).
          staticSummary: `Agent ${shownAgent}`,
          staticDetails: `Agent \`${shownAgent}\`. Look at it with \`countersign show ${escapeText(workflowId)}\`, at what waits for a person with \`countersign approvals\`. If Current Details are empty, no worker lives: Timeline and Memo then show what waits.`,
        });
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        if (keyed !== undefined) return requireSameStart(session, keyed, error);
        throw new ProblemError(
          {
            code: 'already_started',
            message: `Run '${workflowId}' exists already: choose another id, or look at it with \`countersign show\`.`,
          },
          { cause: error },
        );
      }
    },
    { workflowId },
  );
  return workflowId;
}
