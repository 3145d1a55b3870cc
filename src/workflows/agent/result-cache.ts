/**
 * Keeps results of tools that declare a `cache`, to answer equal calls of the same run. The texts stay in the
 * transcript. A call that may change something discards all results, because its effect on them is not known.
 */
import type { ToolDefinition } from '../../core/base/tool-call.ts';
import type { EarlierResult } from '../gate/admit-call.ts';
import { type KeptResults, type RunState, type StartableCall, agentOf } from './run-state.ts';

const resultsKept = 100;

/** The kept result of an equal call by the same agent; undefined if there is none, or if its scope is over. */
export function earlierResult(state: RunState, tool: ToolDefinition, digest: string): EarlierResult | undefined {
  const { results, messages, askedAfterTurn = 0 } = state;
  if (!isCached(tool) || results?.agent !== agentOf(state).agent) return undefined;
  const found = results.calls.find((each) => each.digest === digest);
  // A result of the present turn is not in the transcript yet.
  const message = found && messages[found.place];
  if (found === undefined || message?.role !== 'tool') return undefined;
  const { callId, from } = found;
  // A call id begins with the call's turn.
  const isBeforeUser = Number.parseInt(callId, 10) <= askedAfterTurn;
  if (tool.cache === 'run' && isBeforeUser) return undefined;
  return { callId, content: message.content.slice(from) };
}

/** Discards the kept results unless the tool only reads. A nested run may change anything, too. */
export function noteStart(state: RunState, tool: ToolDefinition): void {
  const { agent, tools } = agentOf(state);
  const onlyReads = tool.risk === 'read_only' && tool.agent === undefined;
  if (onlyReads || (state.results === undefined && !tools.some(isCached))) return;
  state.results = { agent, changedInTurn: state.turn, calls: [] };
}

/** Keeps the result of call `index` for equal calls of later turns. `digest`: the digest of the call that ran. */
export function keepResult(
  state: RunState,
  tool: ToolDefinition,
  {
    index,
    digest,
    call: { callId },
    notice,
  }: { index: number; digest: string } & Pick<StartableCall, 'call' | 'notice'>,
): void {
  const { turn, messages, results } = state;
  // A call of the same turn may have changed something before or after this result was read.
  if (!isCached(tool) || results?.changedInTurn === turn) return;
  const { agent } = agentOf(state);
  const before = results?.agent === agent ? results.calls.filter((each) => each.digest !== digest) : [];
  const from = notice === undefined ? undefined : notice.length + 1;
  const kept: KeptResults['calls'][number] = { callId, digest, place: messages.length + index, from };
  state.results = { agent, calls: [...before, kept].slice(-resultsKept) };
}

function isCached({ cache, risk }: ToolDefinition): boolean {
  return cache !== undefined && risk === 'read_only';
}
