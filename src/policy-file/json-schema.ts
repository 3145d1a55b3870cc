import { z } from 'zod';
import { policyShape } from './shape.ts';
import type { JsonObject } from '../core/base/tool-call.ts';

/** Returns the JSON Schema for editors (`# yaml-language-server: $schema=…`). `parsePolicy` checks more than it. */
export function policyJsonSchema(): JsonObject {
  const schema = z.toJSONSchema(policyShape, { io: 'input', reused: 'inline' }) as JsonObject;
  return { ...schema, title: 'Countersign policy' };
}
