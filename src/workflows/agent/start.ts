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

/** Returns a run's input, or throws its first problem. `countersign.loadAgent` checks the rest, such as the files. */
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

/** Returns the input without its files, which have limits of their own. Accepts any value. */
function withoutFiles(input: unknown): unknown {
  if (!Array.isArray(input)) return input;
  return (input as unknown[]).map((each) =>
    isObject(each) && each['role'] === 'user' && 'files' in each ? { ...each, files: [] } : each,
  );
}

/** True if `parent` names the workflow that started this one, because no other may set policies for it (I10). */
function isFromParent(parent: Partial<ParentOfRun> | null): boolean {
  const above = workflowInfo().parent?.workflowId;
  const lineage: unknown = parent?.lineage;
  return above !== undefined && Array.isArray(lineage) && lineage.at(-1) === above;
}

/** Returns the state of a run before its first turn. */
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

/** Returns the input for the next execution. It lacks what the run's state carries: inherited policies, and files. */
export function continuedInput({ parent, input, ...rest }: RunInput): RunInput {
  const inputWithoutData = typeof input === 'string' ? input : withoutFileData(input);
  return { ...rest, input: inputWithoutData, ...(parent !== undefined && { parent: { ...parent, policies: [] } }) };
}

/** Returns the gate's options for the agent in charge, from the recorded config in `state`. */
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
    // Continue-as-new carries the config, so the changed policies of the calling runs belong into it.
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
 * Converts an error that ends a run to the failure to throw: one sentence, its code, and the last journal entries,
 * taken from the gate. Returns a cancellation unchanged, and also an error that is no failure of Temporal: it is a
 * defect of the code, and the task is retried until a deploy fixes it.
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
