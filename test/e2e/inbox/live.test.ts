import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { openAICompatible } from '../../../src/models/openai-compatible.ts';
import {
  type ChatServer,
  chunk,
  startChatServer,
  startStream,
  usageChunk,
} from '../../support/chat-completions-server.ts';
import { chromium, type InboxPage, openInboxPage } from './inbox-page.ts';

/** What the page of a run shows while the model writes, and of a run that cannot begin. */

const withChromium = chromium === undefined ? describe.skip : describe;

withChromium('a run that is watched (needs Chromium)', () => {
  let server: ChatServer;
  let inbox: InboxPage;
  beforeAll(async () => {
    server = await startChatServer();
    const model = openAICompatible({ baseURL: server.baseURL, model: 'm' });
    const agent = defineAgent({ name: 'tester', instructions: 'Write.', model });
    inbox = await openInboxPage({ agentsIn: () => [agent] });
  });
  afterAll(async () => {
    await inbox?.close();
    await server?.close();
  });

  test('the words of the model are there while it still writes, and once when it has ended', async () => {
    const { page, world } = inbox;
    const goOn = Promise.withResolvers<(text: string | undefined) => void>();
    server.answer(
      (response) =>
        new Promise<void>((done) => {
          const stream = startStream(response);
          goOn.resolve((content) => {
            if (content !== undefined) return stream.send(chunk({ content }));
            stream.send(chunk({}, 'stop'), usageChunk(1, 1));
            stream.done();
            done();
          });
        }),
    );
    const run = await world.start([], { input: 'Tell a story' });
    const write = await goOn.promise;
    await page.goto(`${world.gateway.url}/inbox/runs/${run.workflowId}`);
    const writing = page.locator('.message[aria-busy]');
    write('Once upon <b>a</b> time ');
    await writing.getByText('Once upon <b>a</b> time').waitFor();
    write('there was a lamp. ');
    await writing.getByText('Once upon <b>a</b> time there was a lamp.').waitFor();
    expect((await run.status()).status).toBe('running');
    expect(await page.locator('.message:not([aria-busy])').count()).toBe(1);
    write(undefined);
    await page.getByText('Timeline · ended').waitFor();
    expect(await writing.count()).toBe(0);
    const shown = await page.locator('.message.agent .message-body').allInnerTexts();
    expect(shown.map((text) => text.trim())).toEqual(['Once upon <b>a</b> time there was a lamp.']);
  });

  test('a run of an agent that no worker has says so in words', async () => {
    const { page, world } = inbox;
    await page.goto(`${world.gateway.url}/inbox/start`);
    const agent = page.getByRole('combobox', { name: 'Agent' });
    expect(await agent.getAttribute('autocapitalize')).toBe('off');
    await agent.fill('Tester');
    await page.getByRole('textbox', { name: 'Task' }).fill('Hello');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByText('Ended: failed').waitFor();
    expect(await page.locator('.run-note.bad').innerText()).toMatch(/agent/i);
    const shown = await page.locator('.conversation').innerText();
    expect(shown).toContain('Hidden, because the run did not begin.');
    expect(shown).not.toContain('[REDACTED]');
  });

  test('the browser complains of nothing, and asks no other server', () => {
    expect(inbox.complaints).toEqual([]);
    expect(inbox.foreign).toEqual([]);
  });
});
