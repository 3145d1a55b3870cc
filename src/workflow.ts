/**
 * The gate for workflows of your own. It works only in workflow code, on a worker from `createWorker` or with
 * `CountersignPlugin`. Workflow code must not import `countersign` itself, which loads models, file access and zod.
 */
// Re-exports only.
/**
 * The workflow that runs an agent. `createWorker` bundles it. If you bundle workflows of your own, export it from their
 * module, too. It fails with `agent_unknown`, `policy_invalid` or `arguments_invalid` for an invalid input, and with
 * the code of a model call that failed for good.
 *
 * @example
 * ```ts
 * import { executeChild } from '@temporalio/workflow';
 * import { agentRun } from 'countersign/workflow';
 *
 * export { agentRun };
 *
 * export async function askClerk(question: string): Promise<string> {
 *   const { output } = await executeChild(agentRun, { args: [{ agent: 'clerk', input: question }] });
 *   return output;
 * }
 * ```
 */
export { agentRun } from './workflows/agent/agent-run.ts';
/**
 * The workflow that carries the requests of a run to the channels of its worker. A run starts it. `createWorker`
 * bundles it; export it from a module of your own workflows, too, if their worker has channels.
 *
 * @example It is exported as {@link agentRun} is.
 */
export { approvalChannels } from './workflows/channels/approval-channels.ts';
export type { ChannelsInput } from './workflows/channels/approval-channels.ts';
/**
 * The workflow that delegates one person's later requests until a date. `client.delegateAll` with `until` starts it.
 * `createWorker` bundles it; export it from a module of your own workflows, too.
 *
 * @example It is exported as {@link agentRun} is.
 */
export { standingDelegation } from './workflows/channels/standing-delegation.ts';
export { ApprovalGate } from './workflows/guarded/approval-gate.ts';
export { forModel } from './workflows/guarded/call-gated.ts';
export { gateRefusal } from './workflows/guarded/gate-refusal.ts';
export type { GateRefusal } from './workflows/guarded/gate-refusal.ts';
export type { Gated } from './workflows/guarded/guarded-activities.ts';
export type { Carry, CarriedGate, LoadOptions } from './workflows/guarded/load-gate.ts';

export { decideName, defaultTaskQueue, memoName, queryNames, searchAttributes, workflowType } from './contract.ts';
export type * from './contract.ts';
export type { Policy, PolicyLayers, Rule } from './core/policy/policy.ts';
export type { Action } from './core/policy/modes.ts';
export type { Problem, ProblemCode } from './core/base/problem.ts';
export type { GatedActivities, GatedActivity } from './core/policy/gated-activity.ts';
export type { ContinueAsNewAfter } from './core/policy/run-config.ts';
export type { Json, JsonObject, Risk, Severity, ToolCall, ToolDefinition } from './core/base/tool-call.ts';
