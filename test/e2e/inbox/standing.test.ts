import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import type { Agent } from '../../../src/agents/definitions.ts';
import { holds } from '../../support/eventually.ts';
import { identityOf, makeToken } from '../../support/identity.ts';
import { chromium, type InboxPage, openInboxPage, passUndo } from './inbox-page.ts';
import { promptScripted } from '../../support/prompt-scripted.ts';

/** What the view says of a request that changes, that needs two people, and to whom it offers answers. */

const withChromium = chromium === undefined ? describe.skip : describe;

const rita = makeToken('rita', ['viewer', 'reviewer']);
const sam = makeToken('sam', ['viewer', 'reviewer']);
const vic = makeToken('vic', ['viewer']);

function agents(folder: string): Agent[] {
  const write = defineTool({
    name: 'write_file',
    description: 'Writes a file.',
    input: z.object({ path: z.string() }),
    preview: async ({ path }, { signal }) => {
      await holds(() => existsSync(join(folder, `release-${path}`)), signal);
      return [{ kind: 'text', name: path, before: 'old\n', after: 'new\n' }];
    },
    execute: ({ path }) => `wrote ${path}`,
  });
  const wire = defineTool({
    name: 'wire',
    description: 'Wires money.',
    input: z.object({ to: z.string() }),
    execute: ({ to }) => `wired to ${to}`,
  });
  const rules = [
    { id: 'one', pattern: '*', action: 'ask' },
    { id: 'two', pattern: 'wire', action: 'ask', ask: { quorum: 2, reviewers: ['rita', 'sam'] } },
  ];
  const tools = [write, wire];
  const policy = { version: 1, rules };
  return [defineAgent({ name: 'tester', instructions: 'Play.', model: promptScripted(), tools, policy })];
}

withChromium('a request in the inbox of several people (needs Chromium)', () => {
  let inbox: InboxPage;
  beforeAll(async () => {
    const tokens = [rita.entry, sam.entry, vic.entry];
    inbox = await openInboxPage({ agentsIn: agents }, { identity: identityOf({ tokens }) });
    await inbox.page.setExtraHTTPHeaders(rita.bearer);
  });
  afterAll(() => inbox?.close());

  test('a card that changes is marked, and is answered only after a second look', async () => {
    const { page, world } = inbox;
    const asked = await inbox.ask('write_file', { path: 'a.txt' });
    await inbox.show(asked);
    await page.getByText('The tool is still working out what would change.').first().waitFor();
    const approve = page.getByRole('button', { name: 'Approve', exact: true });
    expect(await approve.getAttribute('aria-disabled')).toBe('true');
    writeFileSync(join(world.folder, 'release-a.txt'), '');
    await page.getByText('Changed since you opened it').waitFor();
    await page.locator('.diff .added', { hasText: 'new' }).waitFor();
    expect(await approve.getAttribute('aria-disabled')).toBe('true');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.locator('button[aria-disabled=false]', { hasText: /^Approve$/ }).waitFor();
    await approve.click();
    await passUndo(page);
    await page.getByText(/^You approved this at/).waitFor();
  });

  test('the votes of a quorum are shown to the next reviewer, and a viewer gets no answers', async () => {
    const { page, world } = inbox;
    const asked = await inbox.ask('wire', { to: 'bob' });
    await inbox.show(asked);
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await passUndo(page);
    await page.getByText('Your approval counts. 1 of 2; still needed: sam.').waitFor();
    await page.getByText('Waiting for sam.').waitFor();
    // The vote has changed nothing that has to be read again.
    expect(await page.getByText('Changed since you opened it').count()).toBe(0);
    const other = await inbox.otherPage();
    await other.setExtraHTTPHeaders(vic.bearer);
    const address = `${world.gateway.url}/inbox/requests/${asked.workflowId}/${asked.requestId}`;
    await other.goto(address);
    await other.getByText('Answering needs the role reviewer').waitFor();
    expect(await other.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0);
    await other.setExtraHTTPHeaders(sam.bearer);
    await other.goto(address);
    await other.getByText('1 of 2 approvals · still needed: sam').waitFor();
    expect(await other.locator('.votes').textContent()).toContain('rita approves');
    await other.getByRole('button', { name: 'Approve', exact: true }).click();
    await passUndo(other);
    await other.getByText(/^You approved this at/).waitFor();
    await page.getByText('sam approved this at').waitFor();
    expect((await asked.run.result()).output).toBe('done');
    await other.close();
  });

  test('nobody: the page says that this browser is signed out', async () => {
    const { world } = inbox;
    const other = await inbox.otherPage();
    await other.goto(world.gateway.url);
    await other.getByRole('heading', { name: /signed out|Sign in/ }).waitFor();
    await other.close();
  });
});
