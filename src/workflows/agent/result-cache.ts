/**
 * Keeps results of tools that declare a `cache`, to answer equal calls of the same run. The texts stay in the
 * transcript. A call that may change something discards all results, because its effect on them is not known.
 */
import type { ToolDefinition } from '../../core/base/tool-call.ts';
import type { EarlierResult } from '../gate/admit-call.ts';
import { type KeptResults, type RunState, type StartableCall, agentOf } from './run-state.ts';

const resultsKept = 100;

/** Returns the kept result of an equal call by the same agent; undefined if there is none, or if it has lapsed. */
export function earlierResult(state: RunState, tool: ToolDefinition, digest: string): EarlierResult | undefined {
  const { results, messages, askedAfterTurn = 0 } = state;
  if (!isCached(tool) || results?.agent !== agentOf(state).agent) return undefined;
  const kept = results.calls.find((each) => each.digest === digest);
  // A result of the present turn is not in the transcript yet.
  const message = kept && messages[kept.place];
  if (kept === undefined || message?.role !== 'tool') return undefined;
  const { callId, from } = kept;
  // A call id begins with the number of its turn. With cache `run`, a new message of the user discards older results.
  const isBeforeUser = Number.parseInt(callId, 10) <= askedAfterTurn;
  if (tool.cache === 'run' && isBeforeUser) return undefined;
  return { callId, content: message.content.slice(from) };
}

/** Discards the kept results when a tool starts that may change something, as may every nested run. */
export function noteStart(state: RunState, tool: ToolDefinition): void {
  const { agent, tools } = agentOf(state);
  const onlyReads = tool.risk === 'read_only' && tool.agent === undefined;
  if (onlyReads || (state.results === undefined && !tools.some(isCached))) return;
  state.results = { agent, changedInTurn: state.turn, calls: [] };
}

/** Keeps the result of a call for equal calls of later turns. `index` is the place of the call in its turn. */
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
  // The calls of a turn run side by side, so another call may have changed what this result says.
  if (!isCached(tool) || results?.changedInTurn === turn) return;
  const { agent } = agentOf(state);
  const before = results?.agent === agent ? results.calls.filter((each) => each.digest !== digest) : [];
  // In the transcript, the reviewers' notice and a line end precede the result.
  const from = notice === undefined ? undefined : notice.length + 1;
  const kept: KeptResults['calls'][number] = { callId, digest, place: messages.length + index, from };
  state.results = { agent, calls: [...before, kept].slice(-resultsKept) };
}

function isCached({ cache, risk }: ToolDefinition): boolean {
  return cache !== undefined && risk === 'read_only';
}
