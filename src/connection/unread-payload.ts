import type { Payload } from '@temporalio/common';
import { keyIdName, unreadEncoding } from '../core/base/undecodable.ts';

/**
 * Returns the payload that replaces one that cannot be read here. `elsewhere`: its content is in a store that is not
 * configured here. `gone`: its file is missing or damaged. `forged`: its writer did not have the key of the payload
 * folder. `encoded`: no codec here decodes it, such as for want of the key with the id `key`.
 */
export function unreadPayload(why: 'elsewhere' | 'gone' | 'forged' | 'encoded', key?: string): Payload {
  const text = new TextEncoder();
  return {
    metadata: { encoding: text.encode(unreadEncoding), ...(key !== undefined && { [keyIdName]: text.encode(key) }) },
    data: text.encode(why),
  };
}
