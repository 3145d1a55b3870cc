import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson } from './canonical-json.ts';
import type { Json, JsonObject } from './tool-call.ts';

/**
 * Identifies exactly what would run (I8): SHA-256 over the canonical JSON of `{ arguments, definition, tool }`, as 64
 * lower-case hex digits. `definition` is the tool's `definitionDigest`. Throws a `ProblemError` (`arguments_invalid`)
 * for arguments without canonical JSON.
 */
export function callDigest(call: { tool: string; args: JsonObject; definition: string }): string {
  const { tool, args, definition } = call;
  // Joined by hand, with keys in canonical order, so that the wrapper does not count towards the arguments' nesting.
  return sha256Hex(
    `{"arguments":${canonicalJson(args)},"definition":${canonicalJson(definition)},"tool":${canonicalJson(tool)}}`,
  );
}

/**
 * The digest of `{ description, name, schema }`, and of `pinned` if there is one, which changes with the tool's definition.
 * `schema` is JSON Schema.
 */
export function definitionDigest(tool: {
  name: string;
  description?: string;
  schema?: JsonObject;
  pinned?: JsonObject;
}): string {
  const { name, description = '', schema = {}, pinned } = tool;
  const more = pinned === undefined ? '' : `"pinned":${canonicalJson(pinned)},`;
  return sha256Hex(
    `{"description":${canonicalJson(description)},"name":${canonicalJson(name)},${more}"schema":${canonicalJson(schema)}}`,
  );
}

/** The digest of any JSON value. */
export function jsonDigest(value: Json): string {
  return sha256Hex(canonicalJson(value));
}

/** Tells one text from most others, and says little of it: 16 bits of its SHA-256. */
export function shortDigest(text: string): string {
  return sha256Hex(text).slice(0, 4);
}

/** SHA-256 in plain JavaScript: the workflow sandbox has no crypto. */
function sha256Hex(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}
