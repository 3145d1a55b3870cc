import type { InboxRow } from '../../http/inbox/api.ts';
import { Foreign, Marked } from '../parts/shown-text.tsx';

/** The sentence of a request's card; before a worker has answered, what the list knows of the call. */
export function RowSentence({ row, most }: { row: InboxRow; most: number }) {
  const { sentence, toolName, shownArguments = {}, argumentNames } = row;
  // The gateway has made the sentence visible and bounded it.
  if (sentence !== undefined) return <Marked text={sentence} />;
  const known = Object.entries(shownArguments).map(([name, value]) => `${name}: ${value}`);
  const rest = known.length > 0 ? known : argumentNames;
  return <Foreign text={rest.length === 0 ? toolName : `${toolName} (${rest.join(', ')})`} most={most} />;
}
