import { z } from 'zod';
import { runsElsewhere, toolNameOf } from './agent-tool.ts';
import { isAgent, type Agent } from './definitions.ts';
import { defineTool } from './define-tool.ts';
import type { Tool } from './definitions.ts';
import { DefinitionError } from './definition-error.ts';

/** The tools by which an agent hands over its run, one for each of its `handoffs`. */
export function handoffTools(agent: Agent): Tool[] {
  const place = `agent '${agent.name}'`;
  const targets: unknown = agent.handoffs();
  if (!Array.isArray(targets) || !targets.every(isAgent)) {
    throw new DefinitionError(`${place}: handoffs must be a list of what defineAgent returned`);
  }
  if (targets.includes(agent)) throw new DefinitionError(`${place}: handoffs name the agent itself`);
  return targets.map((target) => handoffTool(place, target));
}

/** Risk `read_only`, because a handoff changes nothing by itself: a policy without a rule for it allows it. */
function handoffTool(place: string, target: Agent): Tool {
  const name = `transfer_to_${toolNameOf(target.name)}`;
  if (name.length > 64) {
    throw new DefinitionError(`${place}: handoff to '${target.name}': its name must have at most 52 characters`);
  }
  const what = target.description === undefined ? '' : ` ${target.description}`;
  const tool = defineTool({
    name,
    description: `Hands this conversation over to agent '${target.name}'.${what}`,
    input: z.object({ reason: z.string().max(1_000).optional() }),
    risk: 'read_only',
    execute: runsElsewhere,
  });
  return Object.freeze({ ...tool, handoff: target });
}
