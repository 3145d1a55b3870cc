/** `countersign`: define tools, agents and models; read and try policies. Re-exports only. */
export type { Assessor, AssessorCall } from './agents/assessor.ts';
export { defineAgent, isAgent } from './agents/define-agent.ts';
export type { Agent, AgentOptions } from './agents/define-agent.ts';
export { defineTool, isTool } from './agents/define-tool.ts';
export type { Tool, ToolContext, ToolOptions } from './agents/define-tool.ts';
export { DefinitionError } from './agents/definition-error.ts';
export { modelFromEnvironment, openAICompatible } from './models/openai-compatible.ts';
export type { OpenAICompatibleOptions } from './models/openai-compatible.ts';
export { scriptedModel } from './models/scripted.ts';
export type { Script, ScriptedTurn } from './models/read-script.ts';

export { formatProblems, parsePolicy } from './core/parse-policy.ts';
export type { ParsePolicyOptions, ParsedPolicy, PolicyProblem } from './core/parse-policy.ts';
export { compilePolicy, evaluate } from './core/ruling.ts';
export type { AskingRule, CompiledLayers, CompiledPolicy, RuledCall, Ruling, RulingContext } from './core/ruling.ts';
export { explain } from './core/explain.ts';
export type { Explanation, RuleMatch } from './core/explain.ts';
export { lintPolicy } from './core/lint-policy.ts';
export type { PolicyWarning } from './core/lint-policy.ts';
export { mergeRunSide } from './core/run-side.ts';
export { splitShell } from './core/shell-split.ts';
export type { ShellPart, ShellSplit } from './core/shell-parts.ts';
export type { Grant, GrantScope } from './core/grants.ts';
export type { Mode } from './core/modes.ts';
export type { Action, ApprovalSettings, AskSettings, Policy, Rule } from './core/policy.ts';
export { assess } from './core/assess.ts';
export { compileAssessRules } from './core/assess-rule.ts';
export type { AssessRule, CompiledAssessRule } from './core/assess-rule.ts';
export type { AssessedCall } from './core/call-view.ts';
export { riskFromMcpHints } from './core/mcp-hints.ts';
export type { McpHints } from './core/mcp-hints.ts';
export type { Json, JsonObject, Risk, Severity } from './core/tool-call.ts';

export { ProblemError, isProblemError } from './core/problem.ts';
export type { Problem, ProblemCode } from './core/problem.ts';
export { decideName, defaultTaskQueue, queryNames, searchAttributes, workflowType } from './contract.ts';
export type * from './contract.ts';
