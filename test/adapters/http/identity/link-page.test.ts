import { expect, test } from 'vitest';
import { linkProblemPage } from '../../../../packages/gateway/src/http/links/link-page.ts';

test('whoever reads a mail is not told to start a worker', async () => {
  const page = linkProblemPage({
    code: 'no_worker',
    message: 'No worker answers: start one with `countersign worker`.',
  });
  const text = await page.text();
  expect(page.status).toBe(503);
  expect(text).toContain('It does not work at the moment: try again in a minute.');
  expect(text).not.toContain('countersign worker');
  const other = linkProblemPage({ code: 'forbidden', message: 'The link is not valid.' });
  expect(await other.text()).toContain('The link is not valid.');
});
