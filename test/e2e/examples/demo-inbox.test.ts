import { afterEach, describe, expect, test } from 'vitest';
import { findChromium, openSharedBrowser } from '../../support/browser.ts';
import { DemoProcess } from './demo-process.ts';
import { eventually } from '../../support/eventually.ts';

/** `npm run demo` beside its inbox: what was answered there counts, and the terminal goes on. */

const chromium = findChromium();
const withChromium = chromium === undefined ? describe.skip : describe;

let demo: DemoProcess;

afterEach(() => demo.dispose());

async function asked(): Promise<{ requestId: string; url: string }> {
  const [asking] = await eventually(
    'the question',
    () => demo.eventsOf('asking').length > 0 && demo.eventsOf('asking'),
  );
  return asking as unknown as { requestId: string; url: string };
}

withChromium('a browser (needs Chromium)', () => {
  test('a person opens the printed address in a browser and approves; the demo completes', async () => {
    demo = new DemoProcess([]);
    const printed = /^ {2}inbox +(http:\/\/127\.0\.0\.1:\d+\/inbox\/requests\/\S+)$/m;
    const [, url] = await eventually('the address', () => printed.exec(demo.stdout) ?? undefined);
    const browser = await openSharedBrowser(chromium!);
    try {
      const page = await browser.context.newPage();
      await page.goto(url!);
      await page.locator('article.card', { hasText: 'report (copy).txt' }).waitFor();
      await page.getByRole('button', { name: 'Approve', exact: true }).click();
      await page.getByText(/^You \w+ this at/).waitFor();
      expect(await demo.ended()).toBe(0);
    } finally {
      await browser.close();
    }
    expect(demo.stdout).toMatch(/decision approved by \S+, elsewhere\n/);
    expect(demo.stdout).toContain('delete_file ran once');
    expect(demo.stdout).toContain('nothing is left behind.');
    expect(await demo.left()).toEqual([]);
  });
});

test('an answer by the API counts, and the terminal says who gave it', async () => {
  demo = new DemoProcess(['--json']);
  const { requestId, url } = await asked();
  const [, workflowId] = new RegExp(`^http://127\\.0\\.0\\.1:\\d+/inbox/requests/([^/]+)/${requestId}$`).exec(url)!;
  expect((await fetch(url)).headers.get('content-type')).toContain('text/html');
  const answer = await fetch(new URL(`/approve/${requestId}?workflowId=${workflowId!}`, url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ approved: false, reason: 'Keep it' }),
  });
  expect({ status: answer.status, body: await answer.json() }).toMatchObject({
    status: 200,
    body: { accepted: true, outcome: 'denied' },
  });
  expect(await demo.ended()).toBe(0);
  expect(demo.eventsOf('elsewhere')).toMatchObject([{ requestId, message: expect.stringMatching(/^denied by ./) }]);
  expect(demo.eventsOf('counted')).toMatchObject([{ tool: 'delete_file', times: 0 }]);
  expect(demo.eventsOf('result')).toMatchObject([{ status: 'completed' }]);
  expect(await demo.left()).toEqual([]);
  await expect(fetch(url)).rejects.toThrow('fetch failed');
});
