import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { WorkerOptions } from '../../worker.ts';
import { UsageError } from './report-error.ts';

const defaultFiles = ['countersign.config.ts', 'countersign.config.js'];

/**
 * Loads the default export `{ agents, tools, policy, … }` of a module, by default of `countersign.config.ts` or `.js`
 * in the current folder. A policy given as a file name is resolved relative to the module. Throws `UsageError`.
 */
export async function loadConfig(path: string | undefined): Promise<WorkerOptions> {
  const file = resolve(path ?? defaultFiles.find((each) => existsSync(each)) ?? '');
  if (path === undefined && !defaultFiles.some((each) => existsSync(each))) {
    throw new UsageError(`There is no ${defaultFiles.join(' or ')} here: name the module that exports your agents.`);
  }
  if (!existsSync(file)) throw new UsageError(`There is no module ${file}.`);
  const config = await load(file);
  if (typeof config !== 'object' || config === null || !Array.isArray((config as { agents?: unknown }).agents)) {
    throw new UsageError(`${file} must export default { agents: […], tools?, policy? }.`);
  }
  const options = config as WorkerOptions;
  const { policy } = options;
  const besideIt = typeof policy === 'string' && !policy.includes('\n') ? resolve(dirname(file), policy) : undefined;
  return besideIt !== undefined && existsSync(besideIt) ? { ...options, policy: besideIt } : options;
}

async function load(file: string): Promise<unknown> {
  try {
    return ((await import(pathToFileURL(file).href)) as { default?: unknown }).default;
  } catch (cause) {
    throw new Error(`${file} cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
