import { dirname, join } from 'node:path';

/**
 * Where the bundle with the workflows of the examples is, beside the bundle of the other tests. It stays there until all
 * tests have ended, so that the histories can be replayed.
 */
export function exampleBundle(codePath: string): string {
  return join(dirname(codePath), 'api-examples.js');
}
