/**
 * `countersign/workflow`: the gate for workflows of one's own. Safe in Temporal's workflow sandbox and meant for it:
 * the gate works only inside a workflow, on a worker made by `createWorker` from `countersign/worker`. Workflow code
 * imports this module and never `countersign` itself, which brings models, files and zod. Re-exports only.
 */
export { agentRun } from './workflows/agent-run.ts';
export { ApprovalGate } from './workflows/approval-gate.ts';
export type { Admission, GateOptions } from './workflows/approval-gate.ts';
export type { GateSnapshot } from './workflows/gate-state.ts';
export { forModel } from './workflows/for-model.ts';
export { gateRefusal } from './workflows/gate-refusal.ts';
export type { GateRefusal } from './workflows/gate-refusal.ts';
export type { Gated } from './workflows/guarded-activities.ts';
export type { Carry, CarriedGate, LoadOptions } from './workflows/load-gate.ts';
export { runTool } from './workflows/run-tool.ts';
export type { ToolEnd } from './workflows/run-tool.ts';

export { decideName, defaultTaskQueue, memoName, queryNames, searchAttributes, workflowType } from './contract.ts';
export type * from './contract.ts';
export type { Action, Policy, PolicyLayers, Rule } from './core/policy.ts';
export type { Problem, ProblemCode } from './core/problem.ts';
export type { GatedActivities, GatedActivity } from './core/gated-activity.ts';
export type { RollOver } from './core/run-config.ts';
export type { Json, JsonObject, Risk, Severity, ToolCall, ToolDefinition } from './core/tool-call.ts';
