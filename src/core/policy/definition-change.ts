/** Sentences about a tool whose definition changed after a call of it had passed the gate (I8). */
import { canonicalJson } from '../base/canonical-json.ts';
import { shortened } from '../base/text.ts';
import type { Json, JsonObject, ToolDefinition } from '../base/tool-call.ts';

/** How often a call may pass the gate again because its tool or its preview changed. Then the call is refused. */
export const mostDefinitionChanges = 3;

const longestText = 80;
const longestSentence = 350;

/** Describes a changed definition to reviewers: one sentence of bounded length, which names no part if none differs. */
export function definitionChange(before: ToolDefinition, after: ToolDefinition): string {
  const changes = [
    ...(before.description === after.description
      ? []
      : [`description ${quoted(before.description)} became ${quoted(after.description)}`]),
    ...argumentChanges(before.schema, after.schema),
    ...(before.risk === after.risk ? [] : [`risk ${before.risk} became ${after.risk}`]),
  ];
  const text = changes.length === 0 ? 'its definition' : changes.join('; ');
  return `Tool '${after.name}' has changed since this call passed the gate: ${shortened(text, longestSentence)}.`;
}

/** The error for the model if a tool's definition changes at each start, as while two versions are deployed. */
export function changesTooOften(tool: string): string {
  return `Error: tool '${tool}' was not started: its definition changed ${mostDefinitionChanges + 1} times, so its workers have different versions of it`;
}

/** The error for the model if the preview of a call changes after each approval. */
export function previewChangesTooOften(tool: string): string {
  return `Error: tool '${tool}' was not started: after each of ${mostDefinitionChanges + 1} approvals, it would have changed something else than its reviewers saw`;
}

/** What has changed in a schema, one clause for each argument, or one in all for its other parts; empty if nothing. */
function argumentChanges(before: JsonObject, after: JsonObject): string[] {
  const [old, now] = [propertiesOf(before), propertiesOf(after)];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  const changes = names.flatMap((name) => {
    const [was, is] = [memberOf(old, name), memberOf(now, name)];
    if (was === is) return [];
    if (was === undefined) return [`new argument ${quoted(name)}`];
    if (is === undefined) return [`argument ${quoted(name)} is gone`];
    return [`argument ${quoted(name)} changed from ${shortened(was, longestText)} to ${shortened(is, longestText)}`];
  });
  const isOther = changes.length === 0 && canonicalJson(before) !== canonicalJson(after);
  return isOther ? ['the schema of its arguments'] : changes;
}

function propertiesOf({ properties }: JsonObject): JsonObject {
  return typeof properties === 'object' && properties !== null && !Array.isArray(properties) ? properties : {};
}

function memberOf(properties: JsonObject, name: string): string | undefined {
  return Object.hasOwn(properties, name) ? canonicalJson(properties[name] as Json) : undefined;
}

function quoted(text: string): string {
  return `'${shortened(text, longestText)}'`;
}
