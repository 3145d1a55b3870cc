import type { GatedDefinition } from '../core/policy/gated-activity.ts';
import type { ToolDefinition } from '../core/base/tool-call.ts';
import type { CheckEditResult } from './check-edit.ts';

/** The second gate's answer about a tool that changed after its call was admitted. */
export interface ChangedDefinition {
  /** The tool as the worker has it, which refused to start it. */
  definition: ToolDefinition | GatedDefinition;
  /** A tool's arguments by the new schema: defaults filled, or why they cannot run. A gated activity has no schema. */
  checked?: CheckEditResult;
}
