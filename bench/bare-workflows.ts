/**
 * Hand-written workflows as a baseline: the same model and tool activities in the same order, without this project.
 * `bareRun` has no gate; `bareGatedRun` waits for a signal or a timer before each asked call. Only types are imported
 * from this project, so that memory and CPU can be compared too.
 */
import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import type { CallModelInput, CallModelResult } from '../src/activities/model-turn.ts';
import type { Message } from '../src/contract.ts';
import type { JsonObject } from '../src/core/base/tool-call.ts';

export interface BareInput {
  agent: string;
  instructions: string;
  tools: CallModelInput['tools'];
  input: string;
  /** Tools whose calls wait for a signal, in the gated variant. */
  asked: string[];
  /** How long a call waits, in milliseconds. */
  timeoutMs: number;
  /** In the variant without a gate: no call runs. The counterpart of runs whose calls are denied. */
  runsNothing?: boolean;
}

/** `callId` is `TURN.INDEX`, both from 1. */
export interface BareDecision {
  callId: string;
  approved: boolean;
}

const { callModel } = proxyActivities<{ callModel: (input: CallModelInput) => Promise<CallModelResult> }>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '30s',
});
const tools = proxyActivities<Record<string, (args: JsonObject) => Promise<string>>>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '30s',
  retry: { maximumAttempts: 1 },
});
const decide = defineSignal<[BareDecision | BareDecision[]]>('decide');

export function bareRun(input: BareInput): Promise<string> {
  return agentLoop(input, () => Promise.resolve(input.runsNothing !== true));
}

export function bareGatedRun(input: BareInput): Promise<string> {
  const decided = new Map<string, boolean>();
  setHandler(decide, (decisions) => {
    for (const { callId, approved } of [decisions].flat()) decided.set(callId, approved);
  });
  return agentLoop(input, async (callId, tool) => {
    if (!input.asked.includes(tool)) return true;
    const answered = await condition(() => decided.has(callId), input.timeoutMs);
    return answered && decided.get(callId) === true;
  });
}

async function agentLoop(
  { agent, instructions, tools: offered, input }: BareInput,
  mayRun: (callId: string, tool: string) => Promise<boolean>,
): Promise<string> {
  const messages: Message[] = [{ role: 'user', content: input }];
  for (let turn = 1; ; turn++) {
    const { text, calls } = await callModel({ agent, turn, instructions, tools: offered, messages });
    if (calls.length === 0) return text;
    const toolCalls = calls.map(({ id, tool: name, args = {} }) => ({ id, name, arguments: args }));
    messages.push({ role: 'assistant', content: text, toolCalls });
    const answers = await Promise.all(
      calls.map(async ({ tool, args = {} }, index) =>
        (await mayRun(`${turn}.${index + 1}`, tool)) ? tools[tool]!(args) : 'Denied',
      ),
    );
    calls.forEach(({ id, tool }, index) =>
      messages.push({ role: 'tool', toolCallId: id, toolName: tool, content: answers[index]! }),
    );
  }
}
