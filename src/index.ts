/** Defines tools, agents and models; reads and evaluates policies. */
// Re-exports only.
export type { AdvisedCall, Advisor, AdvisorAnswer, AdvisorFunction, ModelAdvisor } from './agents/advisor.ts';
export type { Assessor, AssessorCall } from './agents/advisor.ts';
export { agentTool, type AgentToolOptions } from './agents/agent-tool.ts';
export { defineAgent, type AgentOptions, type FileOptions } from './agents/define-agent.ts';
export {
  isAgent,
  type Agent,
  isTool,
  UnknownOutcomeError,
  type CheckContext,
  type OpenToolset,
  type PreviewContext,
  type Reconciled,
  type ResultCheckContext,
  type Tool,
  type ToolContext,
  type Toolset,
  type ToolsetListing,
  type Verdict,
} from './agents/definitions.ts';
export type { ModelCallOptions } from './agents/model-call.ts';
export { defineTool, type ToolOptions } from './agents/define-tool.ts';
export { defineToolset, type ToolsetOptions } from './agents/define-toolset.ts';
export type { ToolSchema } from './agents/tool-schema.ts';
export { DefinitionError } from './agents/check-options.ts';
export { modelFromEnvironment, openAICompatible, type OpenAICompatibleOptions } from './models/openai-compatible.ts';
export { scriptedModel, type Script, type ScriptedTurn } from './models/scripted.ts';

export { formatProblems, parsePolicy } from './policy-file/parse-policy.ts';
export type { ParsePolicyOptions, ParsedPolicy, PolicyProblem } from './policy-file/parse-policy.ts';
export { evaluate } from './policy-file/evaluate.ts';
export {
  compilePolicy,
  type AskingRule,
  type CompiledLayers,
  type CompiledPolicy,
  type RuledCall,
  type Ruling,
  type RulingContext,
  type RulingMeter,
  type RunCounts,
  type SumOf,
} from './core/policy/ruling.ts';
export { explain, type Explanation, type RuleMatch } from './policy-file/explain.ts';
export { lintPolicy } from './policy-file/lint-policy.ts';
export type { KnownNames, PolicyWarning } from './policy-file/lint-names.ts';
export { mergeRunSide, type RunSide, type RunSideRule } from './core/policy/run-side.ts';
export { splitShell } from './shell/split.ts';
export type { ShellPart, ShellSplit, Uncertainty } from './core/shell/parts.ts';
export type { Absence, Directory, NamedPerson, Person } from './core/people/directory.ts';
export type { Revoked } from './core/people/revoked.ts';
export type { ModelCallLimits } from './core/policy/run-config.ts';
export type { Mode, Action } from './core/policy/modes.ts';
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
export type { SensitiveKind } from './core/redact/kinds.ts';
export { assess } from './assess/assess.ts';
export { compileAssessRules, type CompiledAssessRule } from './core/policy/assess-rules.ts';
export type { AssessRule, AssessedCall } from './core/assess/assessment.ts';
export { riskFromMcpHints, type McpHints } from './policy-file/mcp-hints.ts';
export type { Json, JsonObject, Risk, Severity } from './core/base/tool-call.ts';

export { ProblemError, isProblemError, type Problem, type ProblemCode } from './core/base/problem.ts';
export { decideName, defaultTaskQueue, queryNames, searchAttributes, workflowType } from './contract.ts';
export type * from './contract.ts';
