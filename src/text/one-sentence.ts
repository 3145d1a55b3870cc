import { shortened } from '../core/base/text.ts';

/** In UTF-16 code units. */
const longest = 300;

/** What an author's function says, as history keeps it: one line of well-formed text, of at most 300 characters. */
export function oneSentence(text: string): string {
  const line = text
    .replace(/\p{Surrogate}/gu, '\uFFFD')
    .replace(/\s+/g, ' ')
    .trim();
  return shortened(line, longest);
}
