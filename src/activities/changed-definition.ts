import type { GatedDefinition } from '../core/policy/gated-activity.ts';
import type { ToolDefinition } from '../core/base/tool-call.ts';
import type { CheckEditResult } from './check-edit.ts';

/** The second gate's report on a tool that changed after its call was admitted. */
export interface ChangedDefinition {
  /** The tool as defined on the worker that refused to start it. */
  definition: ToolDefinition | GatedDefinition;
  /** Tools only: the arguments parsed by the new schema, defaults filled in, or why they cannot run. */
  checked?: CheckEditResult;
}
