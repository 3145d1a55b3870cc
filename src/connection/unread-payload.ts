import type { Payload } from '@temporalio/common';
import { unreadEncoding } from '../core/base/undecodable.ts';

/**
 * Returns the payload that replaces one that cannot be read here. `elsewhere`: its content is in a store that is not
 * configured here. `gone`: its file is missing or damaged. `forged`: its writer did not have the key of the payload
 * folder. `encoded`: no codec here decodes it.
 */
export function unreadPayload(why: 'elsewhere' | 'gone' | 'forged' | 'encoded'): Payload {
  const text = new TextEncoder();
  return { metadata: { encoding: text.encode(unreadEncoding) }, data: text.encode(why) };
}
