import {
  ApplicationFailure,
  workflowInfo,
  ActivityFailure,
  TemporalFailure,
  isCancellation,
} from '@temporalio/workflow';
import type { ParentOfRun, RunInput } from '../../contract.ts';
import { byteLength } from '../../core/base/text.ts';
import type { RunConfig } from '../../core/policy/run-config.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { isObject } from '../../core/base/json.ts';
import { type RunState, agentOf, recordedTool } from './run-state.ts';
import { withoutFileData } from './transcript.ts';
import type { GateOptions } from '../state/active-policies.ts';
import { type Problem, type ProblemCode, problemCodeOf } from '../../core/base/problem.ts';
import type { Gate } from '../gate/gate.ts';

/** The largest input of a run, in bytes. It leaves room for what else is sent to the model. */
const maxInputBytes = 512_000;

/** The input of a run. Throws if it cannot be passed to `countersign.loadAgent`, which checks everything else. */
export function readInput(input: unknown): RunInput {
  if (isUndecodable(input)) throw refused('undecodable', `The run's input could not be decoded: ${input.why}`);
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw refused('arguments_invalid', `The run's input must be an object such as {"agent":"NAME","input":"TEXT"}`);
  }
  const { parent, ...rest } = input as RunInput;
  const bytes = byteLength(JSON.stringify({ ...rest, input: withoutFiles(rest.input) }));
  if (bytes > maxInputBytes) {
    throw refused('too_large', `The run's input has ${bytes} bytes; at most ${maxInputBytes}`);
  }
  if (parent !== undefined && !isFromParent(parent)) {
    const message = `The run's 'parent' is written by the run that starts a nested one: leave it out`;
    throw refused('arguments_invalid', message);
  }
  return input as RunInput;
}

function refused(type: ProblemCode, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, type);
}

/** The input with its files left out, because the agent has other limits for files. Accepts any value. */
function withoutFiles(input: unknown): unknown {
  if (!Array.isArray(input)) return input;
  return (input as unknown[]).map((each) =>
    isObject(each) && each['role'] === 'user' && 'files' in each ? { ...each, files: [] } : each,
  );
}

/** True if the workflow that started this one wrote `parent`: no other may set policies that bind a run (I10). */
function isFromParent(parent: Partial<ParentOfRun> | null): boolean {
  const above = workflowInfo().parent?.workflowId;
  const lineage: unknown = parent?.lineage;
  return above !== undefined && Array.isArray(lineage) && lineage.at(-1) === above;
}

/** The state of a run before its first turn. */
export function startOf({ input }: RunInput, config: RunConfig): RunState {
  return {
    config,
    messages: typeof input === 'string' ? [{ role: 'user', content: input }] : input,
    turn: 0,
    calls: [],
    usage: { inputTokens: 0, outputTokens: 0 },
    executions: 1,
  };
}

/** The next execution's input, without what the run's state has: the inherited policies, and the data of files. */
export function continuedInput({ parent, input, ...rest }: RunInput): RunInput {
  const inputWithoutData = typeof input === 'string' ? input : withoutFileData(input);
  return { ...rest, input: inputWithoutData, ...(parent !== undefined && { parent: { ...parent, policies: [] } }) };
}

/** The gate's options for the agent in charge, as recorded. Changed policies of the parents are kept in `state`. */
export function gateOptionsOf(state: RunState, { caller, metadata }: RunInput, lineage: string[]): GateOptions {
  const { ceiling, ceilingLines, parents, engine, auditSalt, continueAsNewAfter, attributes, routes } = state.config;
  const { agent, run } = agentOf(state);
  return {
    agent,
    policies: { ceiling, parents, run },
    ceilingLines,
    caller,
    metadata,
    lineage,
    onParents: (changed) => {
      state.config = { ...state.config, parents: changed };
    },
    engine,
    schemaOf: (tool, definition) => recordedTool(state, tool, definition)?.schema,
    auditSalt,
    continueAsNewAfter,
    attributes,
    routes,
  };
}

/**
 * The failure to throw for an error that ends a run: one sentence, its code, and the last journal entries, which this
 * function takes from the gate. Returns a cancellation unchanged. It also returns an error unchanged that is no failure
 * of Temporal: such an error is a defect of the code, and the task is retried until a deploy fixes it.
 */
export function failureOfRun(error: unknown, gate: Gate): unknown {
  if (!(error instanceof TemporalFailure) || isCancellation(error)) return error;
  const { message, type } = reasonOf(error);
  return ApplicationFailure.create({
    message,
    type,
    nonRetryable: true,
    details: [{ status: 'failed', ...gate.takeLast() }],
  });
}

export function problemOf(failure: ActivityFailure): Problem {
  const { message, type } = reasonOf(failure);
  return { code: problemCodeOf(type), message };
}

function reasonOf(error: TemporalFailure): { message: string; type: string } {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  const message = cause instanceof Error ? cause.message : String(cause);
  return { message, type: cause instanceof ApplicationFailure ? (cause.type ?? 'internal') : 'internal' };
}
