import type { JsonObject } from '../../src/core/base/tool-call.ts';
import { agentTool } from '../../src/agents/agent-tool.ts';
import { defineAgent } from '../../src/agents/define-agent.ts';
import type { Agent } from '../../src/agents/definitions.ts';
import { promptScripted } from './prompt-scripted.ts';
import { testAgent } from './test-agent.ts';
import type { Turns } from './world.ts';

/** Policies by agent. */
export type TeamPolicies = Partial<Record<'tester' | 'researcher' | 'clerk' | 'lax' | 'billing', object>>;

/**
 * Agents that call one another and hand over to one another, all scripted by their first user message. `tester` calls
 * `researcher`, `lax` and `mirror`, and hands over to `billing`, `lax` and `mirror`. `researcher` calls `clerk`.
 * `mirror` and `billing` hand over to `tester`. `lax` has a policy that allows everything, and at most three turns.
 */
export function team(folder: string, policies: TeamPolicies = {}): Agent[] {
  const { tools, model } = testAgent(folder);
  const instructions = 'Play your script.';
  const policyOf = (name: keyof TeamPolicies, otherwise?: object) => {
    const policy = policies[name] ?? otherwise;
    return policy === undefined ? {} : { policy };
  };
  const some = tools.filter(({ name }) => ['look', 'pay', 'hold', 'wipe'].includes(name));
  const clerk = defineAgent({ name: 'clerk', instructions, model, tools: some, ...policyOf('clerk') });
  const researcher = defineAgent({
    name: 'researcher',
    description: 'Finds things out.',
    instructions,
    model: promptScripted(),
    tools: [...some, agentTool(clerk)],
    ...policyOf('researcher'),
  });
  const allowAll = { version: 1, rules: [{ pattern: '*', action: 'allow' }] };
  const lax = defineAgent({
    name: 'lax',
    instructions,
    model,
    tools: some,
    maxTurns: 3,
    ...policyOf('lax', allowAll),
  });
  const mirror = defineAgent({ name: 'mirror', instructions, model, handoffs: () => [tester] });
  const billing = defineAgent({
    name: 'billing',
    instructions: 'Play your script, too.',
    model,
    tools: some,
    handoffs: () => [tester],
    ...policyOf('billing'),
  });
  const tester: Agent = defineAgent({
    name: 'tester',
    instructions,
    model,
    tools: [...tools, agentTool(researcher), agentTool(lax), agentTool(mirror)],
    handoffs: [billing, lax, mirror],
    ...policyOf('tester'),
  });
  return [tester];
}

/** A call of an agent that plays these turns. */
export function callOf(agent: string, ...turns: object[]): { tool: string; args: { input: string } } {
  return { tool: agent, args: { input: JSON.stringify(turns) } };
}

export const pay = (to: string, amount = 1) => ({ tool: 'pay', args: { to, amount } });
export const last = { text: '{{lastResult}}' };
/** A turn with these calls, then one whose text is the last result. */
export const once = (...calls: object[]): Turns => [{ calls }, last] as Turns;
export const yes = (requestId: string) => ({ requestId, approved: true });
/** A policy with one rule. */
export const rule = (pattern: string, action: string, more: JsonObject = {}): JsonObject => ({
  version: 1,
  rules: [{ pattern, action, ...more }],
});
