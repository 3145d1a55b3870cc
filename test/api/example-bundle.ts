import { dirname, join } from 'node:path';

/**
 * Returns the path of the bundle with the workflows of the examples, beside the bundle of the other tests. The file stays
 * until all tests have ended, so that the histories can be replayed.
 */
export function exampleBundle(codePath: string): string {
  return join(dirname(codePath), 'api-examples.js');
}
