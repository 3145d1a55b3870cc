import { z } from 'zod';
import { policyShape } from './shape.ts';
import type { JsonObject } from '../core/base/tool-call.ts';

/**
 * The JSON Schema (draft 2020-12) of a policy file, for editors: `# yaml-language-server: $schema=…`. It covers keys,
 * choices and limits. Only `parsePolicy` checks patterns, conditions and dependencies between keys.
 */
export function policyJsonSchema(): JsonObject {
  const schema = z.toJSONSchema(policyShape, { io: 'input', reused: 'inline' }) as JsonObject;
  return { ...schema, title: 'Countersign policy' };
}
