import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { escapeText } from 'countersign/base';
import type { ChannelOptions } from 'countersign/channels';
import type { ClientOptions } from 'countersign/client';
import { checkWorkerOptions } from 'countersign/dev';
import type { WorkerOptions } from 'countersign/worker';
import { UsageError, type Output } from './output.ts';

const defaultFiles = ['countersign.config.ts', 'countersign.config.js'];

export interface WorkerModule {
  options: WorkerOptions;
  /** Calls the `close` that the module exports, if any. Rejects if that rejects. */
  close: () => Promise<void>;
}

/**
 * Loads the default export of a module; default: `countersign.config.ts` or `.js` in the current folder. The names of
 * policy and channel files are relative to the module. Throws `UsageError`.
 */
export async function loadConfig(path: string | undefined): Promise<WorkerOptions> {
  return (await loadWorkerModule(path)).options;
}

/** Loads a worker module, checks its options, and resolves the file names in them. Throws `UsageError`. */
export async function loadWorkerModule(path: string | undefined): Promise<WorkerModule> {
  const file = configFile(path);
  if (file === undefined) {
    throw new UsageError(`There is no ${defaultFiles.join(' or ')} here: name the module that exports your agents.`);
  }
  const { default: config, close } = await load(file);
  if (typeof config !== 'object' || config === null || !Array.isArray((config as { agents?: unknown }).agents)) {
    throw new UsageError(`${file} must export default { agents: […], tools?, policy? }.`);
  }
  checkWorkerOptions(file, config);
  const { policy, channels, ...options } = config as WorkerOptions;
  if (close !== undefined && typeof close !== 'function')
    throw new UsageError(`${file} exports a close that is no function.`);
  return {
    options: {
      ...options,
      ...(policy !== undefined && { policy: besideModule(file, policy) }),
      ...(channels !== undefined && { channels: besideModule(file, channels) }),
    },
    close: async () => {
      await (close as (() => unknown) | undefined)?.();
    },
  };
}

/** Closes a module before its process ends. Logs an error of the module, and goes on. */
export async function closeModule({ close }: WorkerModule, { note }: Pick<Output, 'note'>): Promise<void> {
  try {
    await close();
  } catch (error) {
    note(`The close() of the module failed: ${escapeText(errorMessage(error))}`);
  }
}

/** Returns the operator's policy of a worker module: a document, a text or a file; undefined without one. */
export async function loadPolicySource(path: string | undefined): Promise<string | object | undefined> {
  const file = configFile(path);
  const { policy } = ((file === undefined ? undefined : (await load(file)).default) ?? {}) as WorkerOptions;
  return file === undefined || policy === undefined ? undefined : besideModule(file, policy);
}

/** Resolves a file name of the options in the folder of the module, unless only the current folder has the file. */
function besideModule<Source>(file: string, source: Source): Source | string {
  // A text with line breaks is a policy itself.
  if (typeof source !== 'string' || source.includes('\n')) return source;
  const besideIt = resolve(dirname(file), source);
  // The name of a file that exists nowhere is resolved, too, for the error. A line that names no file may be a policy.
  const isMissingFile = /\.(ya?ml|json)$/.test(source) && !existsSync(source);
  return existsSync(besideIt) || isMissingFile ? besideIt : source;
}

/** Returns a worker module's options with its channels, or the options in its channel file; undefined without both. */
export async function loadChannels(path: string | undefined): Promise<ChannelOptions | undefined> {
  const file = configFile(path);
  const { channels, ...options } = ((file === undefined ? undefined : (await load(file)).default) ??
    {}) as WorkerOptions;
  if (file === undefined || channels === undefined) return undefined;
  if (typeof channels !== 'string') return { ...options, channels };
  // This module is loaded late, because it is slow, and most worker modules have no channel file.
  const { readChannels } = await import('countersign/channels');
  return readChannels(besideModule<string>(file, channels));
}

/** Returns the options that a worker module and a client of its runs share. Throws `UsageError`. */
export async function loadClientConfig(path: string | undefined): Promise<ClientOptions> {
  const file = configFile(path);
  const config = file === undefined ? undefined : (await load(file)).default;
  const { address, namespace, taskQueue, dataConverter, largePayloads, attributes } = (config ?? {}) as WorkerOptions;
  return { address, namespace, taskQueue, dataConverter, largePayloads, attributes };
}

/** Returns the path of the named module, else of a default file; undefined if there is none. Throws `UsageError`. */
export function configFile(path: string | undefined): string | undefined {
  const file = path ?? defaultFiles.find((each) => existsSync(each));
  if (file === undefined) return undefined;
  if (!existsSync(file)) throw new UsageError(`There is no module ${resolve(file)}.`);
  return resolve(file);
}

async function load(file: string): Promise<{ default?: unknown; close?: unknown }> {
  try {
    return (await import(pathToFileURL(file).href)) as { default?: unknown; close?: unknown };
  } catch (cause) {
    throw new Error(`${file} cannot be loaded: ${errorMessage(cause)}`, { cause });
  }
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
