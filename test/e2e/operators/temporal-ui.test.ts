import { describe, expect, test } from 'vitest';
import { createClient } from '../../../src/client.ts';
import { EncryptionCodec } from '../../../src/codec.ts';
import { startCodecServer } from '../../codec/test-codec-server.ts';
import { eventually } from '../../support/eventually.ts';
import { findChromium, openSharedBrowser } from '../../support/browser.ts';
import { makeOwnInbox } from '../../support/own-inbox.ts';
import { sharedAddress, sharedTemporalUi } from '../../support/shared-server.ts';
import { note, readWaitingRunPages } from './waiting-run-pages.ts';
import { testBundle } from '../../support/world.ts';

/** Temporal's own UI, in a real browser, shows what waits and how to answer, and the answer works there. */

const chromium = findChromium();
const withChromium = chromium === undefined ? describe.skip : describe;

withChromium('the page of a run in Temporal UI (needs Chromium)', () => {
  test('a reader sees what waits, its deadline and how to answer, also without a worker, and answers there', async () => {
    const browser = await openSharedBrowser(chromium!);
    const { requests, userMetadata, withoutWorker, afterSignal } = await readWaitingRunPages({
      address: sharedAddress(),
      uiUrl: sharedTemporalUi(),
      namespace: await makeOwnInbox(),
      context: browser.context,
      workflowBundle: { codePath: testBundle() },
    });
    await browser.close();
    expect(userMetadata).toContain('2 approvals pending');
    for (const { requestId, digest, deadline } of requests) {
      expect(userMetadata).toContain(`request ${requestId}`);
      expect(userMetadata).toContain(`digest ${digest.slice(0, 16)}`);
      expect(userMetadata).toContain(`denied automatically after ${deadline!.slice(0, 19).replace('T', ' ')} UTC`);
    }
    expect(userMetadata).toContain(
      'move_file from downloads/invoice.pdf, to invoices/2026-11.pdf, not shown: note, risk',
    );
    const [first, second] = requests.map(({ requestId }) => requestId);
    expect(userMetadata).toContain(`countersign approve ${first!}`);
    expect(userMetadata).toContain(`countersign deny ${first!}`);
    expect(userMetadata).toContain(`Send a Signal, name decide, with this data`);
    expect(userMetadata).toContain(JSON.stringify({ requestId: first, approved: true }));
    const { timeline, history, memo } = withoutWorker;
    const until = requests[0]!.deadline!.slice(0, 16).replace('T', ' ');
    const call = 'move_file(from: downloads/invoice.pdf, to: invoices/2026-11.pdf, note)';
    for (const text of [timeline, history]) {
      expect(text).toContain(`${call} and 1 more · until ${until} UTC · countersign approvals`);
    }
    for (const shown of ['photos/photo.jpg', 'notShown', requests[1]!.deadline!, requests[1]!.requestId]) {
      expect(memo).toContain(shown);
    }
    // The page shows the names of the other arguments, and not their values (I13).
    expect([userMetadata, timeline, history, memo].join('\n')).not.toContain(note);
    expect(timeline).toContain('turn 1 of tidy');
    expect(timeline).toContain('allowed: call 1.1');
    expect(afterSignal).toContain('1 approval pending');
    expect(afterSignal).toContain(`countersign approve ${second!}`);
    expect(afterSignal).not.toContain(first!);
  });

  test('of an encrypted namespace, it shows the same through a codec server, and no text without one', async () => {
    // By the keys of all tests, so that what it leaves is replayed.
    const codec = new EncryptionCodec();
    const uiUrl = sharedTemporalUi();
    const server = await startCodecServer(codec, () => true, uiUrl);
    const browser = await openSharedBrowser(chromium!);
    // As _Data encoder_ of the page keeps it.
    await browser.context.addInitScript((endpoint) => {
      localStorage.setItem('endpoint', JSON.stringify(endpoint));
      localStorage.setItem('overrideRemoteCodecConfiguration', 'true');
    }, server.endpoint);
    const namespace = await makeOwnInbox();
    const { userMetadata, withoutWorker, afterSignal } = await readWaitingRunPages({
      address: sharedAddress(),
      uiUrl,
      namespace,
      context: browser.context,
      workflowBundle: { codePath: testBundle() },
      dataConverter: { payloadCodecs: [codec] },
    });
    await browser.close();
    await server.close();
    expect(userMetadata).toContain('2 approvals pending');
    for (const text of [withoutWorker.timeline, withoutWorker.history]) {
      expect(text).toContain('move_file(from: downloads/invoice.pdf, to: invoices/2026-11.pdf, note) and 1 more');
    }
    expect(withoutWorker.memo).toContain('photos/photo.jpg');
    // The form sends the signal in clear text, or as the codec server writes it.
    expect(afterSignal).toContain('1 approval pending');

    const blind = await openSharedBrowser(chromium!);
    const page = await blind.context.newPage();
    const client = await createClient({ address: sharedAddress(), namespace });
    const { runId } = await client.session.client.workflow.getHandle('tidy-downloads').describe();
    await client.close();
    await page.goto(`${uiUrl}/namespaces/${namespace}/workflows/tidy-downloads/${runId}/memo`);
    const memo = await eventually('an encrypted memo', async () => {
      const text = await page.locator('body').innerText();
      // `binary/encrypted`, as the page writes what it does not decode.
      return text.includes('YmluYXJ5L2VuY3J5cHRlZA==') && text;
    });
    await blind.close();
    expect(memo).not.toContain('invoice');
  });
});
