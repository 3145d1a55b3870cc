/** Runs agents and gates on Temporal's worker. */
// Re-exports only, after the check of Node's version.
import './connection/require-node.ts';
export { bundleWorkflows, createWorker, type CountersignWorker } from './worker/create-worker.ts';
export type { WorkerOptions, PluginOptions } from './worker/worker-options.ts';
export { CountersignPlugin } from './worker/plugin.ts';
export type { ServerOptions } from './connection/connection-settings.ts';
export type { ContinueAsNewAfter } from './core/policy/run-config.ts';
export type { AttributeNameOptions } from './core/base/attribute-names.ts';
export type { LargePayloads } from './payload-folder/large-payloads.ts';
