import { styleText } from 'node:util';
import { expect, test } from 'vitest';
import { cardLines, requiredLines } from '../../../../packages/cli/src/review/card-lines.ts';
import type { OpenCard } from '../../../../packages/cli/src/review/review-state.ts';
import type { Style } from '../../../../packages/cli/src/base/output.ts';
import { cardRequest } from '../../../card/sample-requests.ts';
import { listedRow } from '../support.ts';

test.each<[string, (format: Style, text: string) => string]>([
  ['with colours', (format, text) => styleText(format, text, { validateStream: false })],
  ['without', (_format, text) => text],
])('what must be seen ends before who runs it, %s', (_name, style) => {
  // The tool's own sentence is the only text that could pass for a heading.
  const request = cardRequest({ sentence: 'Who and what runs it' });
  const open: OpenCard = {
    row: listedRow({ requestId: request.requestId, digest: request.digest }),
    request,
    unfolded: false,
    scroll: 0,
    seen: 0,
  };
  const lines = cardLines(open, 80, style);
  const end = requiredLines(open, 80, style);
  expect(lines[end]).toContain('Who and what runs it');
  expect(lines.slice(0, end).join('\n')).toContain('Refunds need a person');
  expect(end).toBeLessThan(lines.length);
});
