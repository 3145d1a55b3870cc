/** The JSON reader and the digests that all of Countersign uses. */
// Re-exports only, for Countersign's own packages: docs/decisions/0063-each-kind-of-process-has-a-package.md.
export { callDigest, definitionDigest } from './core/base/digest.ts';
export { jsonPlace, parseJson } from './core/base/json.ts';
export { readChanges } from './core/base/call-preview.ts';
export { readJson } from './text/read-json.ts';
