import { jsonDigest } from '../core/base/digest.ts';
import type { Json } from '../core/base/tool-call.ts';
import type { ChannelAnswer } from './channel.ts';
import { parseJson } from '../core/base/json.ts';

/** The digest of an answer, as in `ResolveContext.refused`: 64 hex characters. */
export function answerDigest(answer: ChannelAnswer | boolean): string {
  // Members that are undefined are not part of an answer.
  return jsonDigest(parseJson(JSON.stringify(answer)) as Json);
}
