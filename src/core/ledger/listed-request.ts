import type { ApprovalRequest } from './approval.ts';
import { byteLength } from '../base/byte-length.ts';
import type { JsonObject } from '../base/tool-call.ts';

/** At most 50 requests can be open; with this many bytes of arguments each, they fit into an answer of 2 MB. */
const listedArgumentBytes = 32_000;

/**
 * A request as a list shows it. Large arguments are left out, but their names, their size and the digest stay; the
 * query for a single request shows all. Nothing is truncated, because a part could pass for the whole.
 */
export function listed(request: ApprovalRequest): ApprovalRequest {
  const bytes = argumentBytes(request.arguments);
  if (bytes <= listedArgumentBytes) return request;
  const argumentNames = Object.keys(request.arguments);
  return { ...request, arguments: {}, argumentNames, argumentBytes: bytes, shown: 'part' };
}

const measured = new WeakMap<JsonObject, number>();

/** Bytes of the arguments' JSON. Measured once per object: several megabytes take milliseconds. */
export function argumentBytes(args: JsonObject): number {
  const known = measured.get(args) ?? byteLength(JSON.stringify(args));
  measured.set(args, known);
  return known;
}
