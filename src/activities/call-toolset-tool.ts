import { ApplicationFailure, activityInfo } from '@temporalio/activity';
import type { OpenToolsets } from '../agents/open-toolsets.ts';
import { definitionOf } from '../agents/registry.ts';
import type { Permit } from '../contract.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { callTool } from './call-tool.ts';
import { notAsRecorded, unavailable } from './tool-unavailable.ts';

/**
 * The activity of every tool that a toolset has. It runs after the second gate, which has just listed the toolset: if that
 * has changed since, the tool does not run.
 */
export function callToolsetTool(
  toolsets: OpenToolsets,
  maxResultBytes: number,
): (permit: Permit, args: JsonObject) => Promise<unknown> {
  return async (permit, args) => {
    const { activityType } = activityInfo();
    if (!toolsets.owns(activityType)) {
      // As Temporal's worker says it of a name that it does not know.
      throw ApplicationFailure.retryable(`'${activityType}' is no activity of this worker`, 'NotFoundError');
    }
    const found = await toolsets.find(activityType, { fresh: false });
    if ('problem' in found) throw unavailable(found.problem);
    if (definitionOf(found.tool).definition !== permit.definition) throw notAsRecorded(activityType);
    return callTool(found.tool, maxResultBytes)(permit, args);
  };
}
