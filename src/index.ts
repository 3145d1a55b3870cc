/** Defines tools, agents and models; reads and evaluates policies. */
// Re-exports only.
export type { AdvisedCall, Advisor, AdvisorAnswer, AdvisorFunction, ModelAdvisor } from './agents/advisor.ts';
export type { Assessor, AssessorCall } from './agents/advisor.ts';
export { agentTool } from './agents/agent-tool.ts';
export type { AgentToolOptions } from './agents/agent-tool.ts';
export { defineAgent } from './agents/define-agent.ts';
export { isAgent } from './agents/definitions.ts';
export type { AgentOptions, FileOptions } from './agents/define-agent.ts';
export type { ModelCallOptions } from './agents/model-call.ts';
export type { Agent } from './agents/definitions.ts';
export { defineTool } from './agents/define-tool.ts';
export { isTool } from './agents/definitions.ts';
export { defineToolset } from './agents/define-toolset.ts';
export type { ToolsetOptions } from './agents/define-toolset.ts';
export { UnknownOutcomeError } from './agents/definitions.ts';
export type { ToolOptions } from './agents/define-tool.ts';
export type {
  CheckContext,
  OpenToolset,
  PreviewContext,
  Reconciled,
  ResultCheckContext,
  Tool,
  ToolContext,
  Toolset,
  ToolsetListing,
  Verdict,
} from './agents/definitions.ts';
export type { ToolSchema } from './agents/tool-schema.ts';
export { DefinitionError } from './agents/check-options.ts';
export { modelFromEnvironment, openAICompatible } from './models/openai-compatible.ts';
export type { OpenAICompatibleOptions } from './models/openai-compatible.ts';
export { scriptedModel } from './models/scripted.ts';
export type { Script, ScriptedTurn } from './models/scripted.ts';

export { formatProblems, parsePolicy } from './policy-file/parse-policy.ts';
export type { ParsePolicyOptions, ParsedPolicy, PolicyProblem } from './policy-file/parse-policy.ts';
export { evaluate } from './policy-file/evaluate.ts';
export { compilePolicy } from './core/policy/ruling.ts';
export type {
  AskingRule,
  CompiledLayers,
  CompiledPolicy,
  RuledCall,
  Ruling,
  RulingContext,
  RulingMeter,
  RunCounts,
  SumOf,
} from './core/policy/ruling.ts';
export { explain } from './policy-file/explain.ts';
export type { Explanation, RuleMatch } from './policy-file/explain.ts';
export { lintPolicy } from './policy-file/lint-policy.ts';
export type { KnownNames } from './policy-file/lint-names.ts';
export type { PolicyWarning } from './policy-file/lint-names.ts';
export { mergeRunSide } from './core/policy/run-side.ts';
export type { RunSide, RunSideRule } from './core/policy/run-side.ts';
export { splitShell } from './shell/split.ts';
export type { ShellPart, ShellSplit, Uncertainty } from './core/shell/parts.ts';
export type { Absence, Directory, NamedPerson, Person } from './core/people/directory.ts';
export type { Revoked } from './core/people/revoked.ts';
export type { ModelCallLimits } from './core/policy/run-config.ts';
export type { Mode } from './core/policy/modes.ts';
export type {
  AdvisorSettings,
  ApprovalSettings,
  AskSettings,
  Policy,
  RedactSettings,
  ModelPrice,
  Prices,
  RunLimit,
  RunLimits,
  RunMeasure,
  ReviewerKeyEntry,
  Rule,
  Show,
} from './core/policy/policy.ts';
export type { Action } from './core/policy/modes.ts';
export type { SensitiveKind } from './core/redact/kinds.ts';
export { assess } from './assess/assess.ts';
export { compileAssessRules } from './core/policy/assess-rules.ts';
export type { AssessRule } from './core/assess/assessment.ts';
export type { CompiledAssessRule } from './core/policy/assess-rules.ts';
export type { AssessedCall } from './core/assess/assessment.ts';
export { riskFromMcpHints } from './policy-file/mcp-hints.ts';
export type { McpHints } from './policy-file/mcp-hints.ts';
export type { Json, JsonObject, Risk, Severity } from './core/base/tool-call.ts';

export { ProblemError, isProblemError } from './core/base/problem.ts';
export type { Problem, ProblemCode } from './core/base/problem.ts';
export { decideName, defaultTaskQueue, queryNames, searchAttributes, workflowType } from './contract.ts';
export type * from './contract.ts';
