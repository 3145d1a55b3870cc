/** `countersign/worker`: runs agents and gates on Temporal's worker. Re-exports only. */
export { bundleWorkflows, createWorker } from './worker/create-worker.ts';
export type { CountersignWorker, WorkerOptions } from './worker/create-worker.ts';
export { countersignPlugin } from './worker/plugin.ts';
export type { CountersignPlugin, PluginOptions } from './worker/plugin.ts';
export type { AttributeNameOptions } from './core/base/attribute-names.ts';
export type { LargePayloads } from './payload-folder/large-payloads.ts';
