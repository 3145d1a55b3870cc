import { fileURLToPath } from 'node:url';

/** Under Node 24 our sources run uncompiled, elsewhere compiled; a module loaded by path has the same extension. */
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

/** The path of one of our workflow modules, for code that loads it by path: Temporal's bundler and data converter. */
export function bundledPath(
  name: 'index' | 'interceptors' | 'preloaded' | 'sandbox/failure-converter' | 'sandbox/payload-converter',
): string {
  return fileURLToPath(new URL(`../workflows/${name}.${extension}`, import.meta.url));
}
