import { fileURLToPath } from 'node:url';

/** Sources run as they are under Node 24 and compiled elsewhere: a module loaded by its path follows suit. */
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

/** Path of one of our workflow modules, for those who load it by path: Temporal's bundler and data converter. */
export function bundledPath(name: 'index' | 'interceptors' | 'preloaded' | 'sandbox/payload-converter'): string {
  return fileURLToPath(new URL(`../workflows/${name}.${extension}`, import.meta.url));
}
