import { ProblemError, type UserFile } from 'countersign/base';
import type { SaidMessage } from './say.ts';

/** A part of what a user said. A part of another kind is neither. */
export interface SaidPart {
  text?: string;
  /** A file, as far as the front end says what it is. */
  file?: { mediaType?: string; url?: string; filename?: string };
}

/**
 * One message of these parts, its files where they stand. The run checks them. Throws `invalid_message` for a part that is
 * neither text nor file: what vanished would be answered as if it had been read.
 */
export function saidMessage(id: string, parts: readonly SaidPart[]): SaidMessage {
  let text = '';
  const files: UserFile[] = [];
  for (const { text: said, file } of parts) {
    if (said !== undefined) text += said;
    else if (file?.mediaType === undefined || file.url === undefined) {
      const message = 'A message has text, and files with a media type and a data URL or an https address.';
      throw new ProblemError({ code: 'invalid_message', message });
    } else {
      const { mediaType, url, filename = '' } = file;
      files.push({ mediaType, url, ...(filename !== '' && { filename }), ...(text !== '' && { at: text.length }) });
    }
  }
  return { id, text, ...(files.length > 0 && { files }) };
}
