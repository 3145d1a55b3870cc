/** The workflow code of a worker, the checks of a worker's options, and what the options declare. */
// Re-exports only, for Countersign's own packages: docs/decisions/0063-each-kind-of-process-has-a-package.md.
export { declaredBy, type DeclaredWorker } from './worker/activity-side.ts';
export { bundleKind, packageBundle } from './worker/package-bundle.ts';
export { checkWorkerOptions } from './worker/worker-options.ts';
