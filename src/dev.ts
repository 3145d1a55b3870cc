/** The workflow code of a worker, and the problems of its options. */
// Re-exports only, for Countersign's own packages: docs/decisions/0063-each-kind-of-process-has-a-package.md.
export { bundleKind, packageBundle } from './worker/package-bundle.ts';
export { checkWorkerOptions } from './worker/worker-options.ts';
