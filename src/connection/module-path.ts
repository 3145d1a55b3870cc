import { fileURLToPath } from 'node:url';

/** Under Node 24 the sources run uncompiled, elsewhere compiled; a module loaded by path has the same extension. */
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

/** The path of a module of this package that Temporal loads by path: its bundler, and its data converter. */
export function modulePath(
  name:
    | 'worker/payload-converter'
    | 'workflows/index'
    | 'workflows/interceptors'
    | 'workflows/preloaded'
    | 'workflows/sandbox/failure-converter'
    | 'workflows/sandbox/payload-converter',
): string {
  return fileURLToPath(new URL(`../${name}.${extension}`, import.meta.url));
}
