import { fileURLToPath } from 'node:url';

/** The extension of this module. It is `ts` in a clone, which Node runs uncompiled, and `js` in the package. */
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

/** Returns the path of a module that Temporal's bundler or data converter loads by path. */
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
