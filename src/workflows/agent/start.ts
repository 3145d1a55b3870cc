import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import type { ParentOfRun, RunInput } from '../../contract.ts';
import { byteLength } from '../../core/base/text.ts';
import type { RunConfig } from '../../core/policy/run-config.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { isObject } from '../../core/base/json.ts';
import type { RunState } from './run-state.ts';
import { withoutFileData } from './transcript.ts';

/** A run's input must leave room for what is sent to the model with it. */
const maxInputBytes = 512_000;

/** Refuses input that cannot be passed to `countersign.loadAgent`, which checks everything else. */
export function readInput(input: unknown): RunInput {
  if (isUndecodable(input)) {
    throw ApplicationFailure.nonRetryable(`The run's input could not be decoded: ${input.why}`, 'undecodable');
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw ApplicationFailure.nonRetryable(
      `The run's input must be an object such as {"agent":"NAME","input":"TEXT"}`,
      'arguments_invalid',
    );
  }
  const { parent, ...rest } = input as RunInput;
  const bytes = byteLength(JSON.stringify({ ...rest, input: withoutFiles(rest.input) }));
  if (bytes > maxInputBytes) {
    throw ApplicationFailure.nonRetryable(`The run's input has ${bytes} bytes; at most ${maxInputBytes}`, 'too_large');
  }
  if (parent !== undefined && !isFromParent(parent)) {
    throw ApplicationFailure.nonRetryable(
      `The run's 'parent' is written by the run that starts a nested one: leave it out`,
      'arguments_invalid',
    );
  }
  return input as RunInput;
}

/** The agent has limits of its own for files, and nothing of this input is checked yet. */
function withoutFiles(input: unknown): unknown {
  if (!Array.isArray(input)) return input;
  return (input as unknown[]).map((each) =>
    isObject(each) && each['role'] === 'user' && 'files' in each ? { ...each, files: [] } : each,
  );
}

/** Only the workflow that started this one may set the policies that bind it; nobody else may use this field (I10). */
function isFromParent(parent: Partial<ParentOfRun> | null): boolean {
  const above = workflowInfo().parent?.workflowId;
  const lineage: unknown = parent?.lineage;
  return above !== undefined && Array.isArray(lineage) && lineage.at(-1) === above;
}

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

/** The input for the next execution: without the inherited policies and the data of files, which the state holds already. */
export function continuedInput({ parent, input, ...rest }: RunInput): RunInput {
  const said = typeof input === 'string' ? input : withoutFileData(input);
  return { ...rest, input: said, ...(parent !== undefined && { parent: { ...parent, policies: [] } }) };
}
