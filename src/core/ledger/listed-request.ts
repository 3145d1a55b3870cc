import type { ApprovalRequest } from './approval.ts';
import { byteLength } from '../base/byte-length.ts';
import type { JsonObject } from '../base/tool-call.ts';

/** 50 requests with so many bytes of arguments each, which is the most that can be open, fit an answer of 2 MB. */
const listedArgumentBytes = 32_000;

/**
 * A request as a list shows it. Large arguments are left out: their names, their size and the digest stay, and the
 * request alone, by its id, is shown whole. Nothing is cut to a part that might pass for the whole.
 */
export function listed(request: ApprovalRequest): ApprovalRequest {
  const bytes = argumentBytes(request.arguments);
  if (bytes <= listedArgumentBytes) return request;
  const argumentNames = Object.keys(request.arguments);
  return { ...request, arguments: {}, argumentNames, argumentBytes: bytes, shown: 'part' };
}

const measured = new WeakMap<JsonObject, number>();

/** Bytes of the arguments' JSON. Measured once for each object: several megabytes take milliseconds. */
export function argumentBytes(args: JsonObject): number {
  const known = measured.get(args) ?? byteLength(JSON.stringify(args));
  measured.set(args, known);
  return known;
}
