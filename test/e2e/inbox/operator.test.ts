import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PresentPolicy, Statistics } from '../../../src/adapters/http/api.ts';
import { createClient } from '../../../src/client/client.ts';
import { medianText } from '../../../src/inbox/operator/median-text.ts';
import { type Browser, findChromium, openBrowser } from '../../support/browser.ts';
import { type InboxStage, openInboxStage } from '../../support/inbox-stage.ts';
import { makeNamespace } from '../../support/make-namespace.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { testBundle } from '../../support/world.ts';

/** The page for operators shows what people did, and the figures of the API. */

const chromium = findChromium();
if (chromium === undefined)
  process.stderr.write('inbox/operator.test.ts: skipped, because there is no Chromium here\n');
const withChromium = chromium === undefined ? describe.skip : describe;

withChromium('policy and statistics (needs Chromium)', () => {
  let stage: InboxStage;
  let browser: Browser;
  beforeAll(async () => {
    const namespace = `operator-page-${randomUUID()}`;
    await makeNamespace(namespace);
    const address = sharedAddress();
    const client = await createClient({ address, namespace });
    await client.setUp();
    await client.close();
    stage = await openInboxStage({ address, namespace, workflowBundle: { codePath: testBundle() } });
    browser = await openBrowser(chromium!);
    browser.context.setDefaultTimeout(60_000);
  });
  afterAll(async () => {
    await browser?.close();
    await stage?.close();
  });

  test('the figures are those of the API, and of what was decided', async () => {
    const page = await browser.context.newPage();
    const read = async <T>(path: string): Promise<T> =>
      (await page.waitForResponse((response) => new URL(response.url()).pathname === path)).json();
    const answers = Promise.all([read<PresentPolicy>('/policy'), read<Statistics>('/statistics')]);
    await page.goto(`${stage.gateway.url}/inbox/operator`);
    const [policy, { reviewers }] = await answers;
    const cells = async (title: string): Promise<string[][]> => {
      await page
        .getByRole('region', { name: `Table: ${title}` })
        .locator('tbody tr')
        .first()
        .waitFor();
      return page.evaluate<string[][]>(`[...document.querySelectorAll('[aria-label="Table: ${title}"] tbody tr')]
        .map((row) => [...row.children].map((cell) => cell.innerText.replace(/\\s+/g, ' ').trim()))`);
    };
    const share = ({ count, of }: { count: number; of: number }): string =>
      of === 0 ? '–' : `${Math.round((count / of) * 100)} % (${count} of ${of})`;
    const median = (ms: number | null): string => (ms === null ? '–' : medianText(ms));
    const quick = new Map(reviewers.map((each) => [each.reviewerId, each]));
    const [bob, rita] = [quick.get('bob')!, quick.get('rita')!];
    expect((await cells('Reviewers')).toSorted(([one], [other]) => one!.localeCompare(other!))).toEqual([
      [
        expect.stringMatching(/^bob answers in haste$/),
        '5',
        '100 % (5 of 5)',
        median(bob.medianMs),
        share(bob.underThreeSeconds),
        '100 % (5 of 5)',
        '0 % (0 of 5)',
        '0 % (0 of 5)',
      ],
      [
        'rita',
        '2',
        '50 % (1 of 2)',
        median(rita.medianMs),
        share(rita.underThreeSeconds),
        '0 % (0 of 1)',
        '0 % (0 of 2)',
        '0 % (0 of 2)',
      ],
    ]);
    const rules = await cells('Rules of the policy');
    expect(rules.map(([, , , ...figures]) => figures)).toEqual(
      policy.present!.rules.map(({ statistics: each }) =>
        each === undefined
          ? ['decided no call']
          : [
              String(each.allowed),
              String(each.deniedByPolicy),
              each.open > 0 ? `${each.asked} (${each.open} open)` : String(each.asked),
              share(each.approvalRate),
              median(each.medianMs),
              share(each.underThreeSeconds),
              share(each.expiredShare),
            ],
      ),
    );
    // Five open requests, and one for each of the seven runs that were settled.
    const asked = policy.present!.rules.map(({ statistics: each }) => [each?.asked ?? 0, each?.open ?? 0] as const);
    expect(asked.reduce(([asked, open], each) => [asked + each[0], open + each[1]], [0, 0])).toEqual([12, 5]);
  });
});
