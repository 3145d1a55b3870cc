import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson } from './canonical-json.ts';
import type { Json, JsonObject } from './tool-call.ts';
import { hashes, Point, verify } from '@noble/ed25519';

/**
 * The identity of exactly what would run (I8): the SHA-256 of the canonical JSON of `{ arguments, definition, tool }`,
 * in lower-case hex. Throws a `ProblemError` (`arguments_invalid`) for arguments without canonical JSON.
 */
export function callDigest(call: { tool: string; args: JsonObject; definition: string }): string {
  const { tool, args, definition } = call;
  // The text is joined by hand, in canonical order, so that the wrapper does not add a level to the arguments' nesting.
  return sha256Hex(
    `{"arguments":${canonicalJson(args)},"definition":${canonicalJson(definition)},"tool":${canonicalJson(tool)}}`,
  );
}

/** SHA-256 over the canonical JSON of a tool's name, description, JSON Schema, and of what its author pinned. */
export function definitionDigest(tool: {
  name: string;
  description?: string;
  schema?: JsonObject;
  pinned?: JsonObject;
}): string {
  const { name, description = '', schema = {}, pinned } = tool;
  // The names are in the order of canonical JSON, which is written here without sorting.
  const pins = pinned === undefined ? '' : `"pinned":${canonicalJson(pinned)},`;
  return sha256Hex(
    `{"description":${canonicalJson(description)},"name":${canonicalJson(name)},${pins}"schema":${canonicalJson(schema)}}`,
  );
}

export function jsonDigest(value: Json): string {
  return sha256Hex(canonicalJson(value));
}

/** The first 16 bits of a text's SHA-256, in hex: enough to tell two texts apart, too few to reveal one. */
export function shortDigest(text: string): string {
  return sha256Hex(text).slice(0, 4);
}

/** SHA-256 in plain JavaScript: the workflow sandbox has no crypto. */
function sha256Hex(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * Decodes base64 (RFC 4648 section 4), because the workflow sandbox has no Buffer; undefined for invalid text.
 * Padding is required and unused bits must be zero, so that each sequence of bytes has exactly one text.
 */
export function bytesFromBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0) return undefined;
  const padding = Number(text.endsWith('=')) + Number(text.endsWith('=='));
  const length = text.length - padding;
  const bytes = new Uint8Array(Math.floor((length * 6) / 8));
  let unusedBits = 0;
  let buffer = 0;
  let at = 0;
  // A regular expression that repeats groups would overflow the stack on a text of some megabytes.
  for (let index = 0; index < length; index++) {
    const digit = alphabet.indexOf(text[index]!);
    if (digit < 0) return undefined;
    // At most six unused bits and six new ones.
    buffer = ((buffer << 6) | digit) & 0xfff;
    unusedBits += 6;
    if (unusedBits < 8) continue;
    unusedBits -= 8;
    bytes[at] = (buffer >> unusedBits) & 0xff;
    at += 1;
  }
  return (buffer & ((1 << unusedBits) - 1)) === 0 ? bytes : undefined;
}

// Ed25519. The first check takes 20 to 30 ms to build a table of 1.3 MB, so a worker loads this module once for all
// runs (`preloadModules`). Runs can share the table: it holds constants of the curve, and no data of a run.

// Without this assignment, the library uses Web Crypto, which is asynchronous and missing in the sandbox.
hashes.sha512 = sha512;

/** True if the signature (64 bytes) was made with the key (32 bytes), by the strict rules of RFC 8032. Never throws. */
export function isSignedBy(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    return verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
}

/** True if these bytes are a usable public key: a point of the curve that is not of small order. */
export function isPublicKey(publicKey: Uint8Array): boolean {
  try {
    return !Point.fromBytes(publicKey).isSmallOrder();
  } catch {
    return false;
  }
}
