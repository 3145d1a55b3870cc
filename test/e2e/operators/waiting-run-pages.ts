import { join } from 'node:path';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { z } from 'zod';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import { createClient } from '../../../src/client/client.ts';
import { type ApprovalRequest, decideName } from '../../../src/contract.ts';
import { type ScriptedTurn, scriptedModel } from '../../../src/models/scripted.ts';
import { type WorkerOptions, createWorker } from '../../../src/worker.ts';
import { eventually } from '../../support/eventually.ts';

export interface WaitingRunPages {
  requests: ApprovalRequest[];
  /** The text of the user metadata page. */
  userMetadata: string;
  /** The text of the other pages while no worker lived. */
  withoutWorker: { timeline: string; history: string; memo: string };
  /** The text of the user metadata page after one request was approved through the form on that page. */
  afterSignal: string;
}

export interface WaitingRunOptions {
  /** Of Temporal: a server, its UI, and a namespace that is set up. */
  address: string;
  uiUrl: string;
  namespace: string;
  context: BrowserContext;
  /** The folder for pictures; without it, none are taken. */
  pictures?: string;
  workflowBundle?: WorkerOptions['workflowBundle'];
  dataConverter?: WorkerOptions['dataConverter'];
}

const workflowId = 'tidy-downloads';
/** An argument that no `show` names. */
export const note = 'Asked for by Ann on the telephone';
const callsOfTurn: ScriptedTurn['calls'] = [
  { tool: 'list_files', args: { folder: 'downloads' } },
  { tool: 'move_file', args: { from: 'downloads/invoice.pdf', to: 'invoices/2026-11.pdf', note } },
  { tool: 'move_file', args: { from: 'downloads/photo.jpg', to: 'photos/photo.jpg', note } },
];

function tidyAgent() {
  const listFiles = defineTool({
    name: 'list_files',
    description: 'Lists the files of a folder.',
    input: z.object({ folder: z.string() }),
    risk: 'read_only',
    execute: () => ['invoice.pdf', 'photo.jpg'],
  });
  const moveFile = defineTool({
    name: 'move_file',
    description: 'Moves a file.',
    input: z.object({ from: z.string(), to: z.string(), note: z.string() }),
    show: ['from', 'to'],
    execute: ({ from, to }) => `${from} is now ${to}`,
  });
  return defineAgent({
    name: 'tidy',
    instructions: 'Tidy the folder.',
    model: scriptedModel([{ text: 'Two files can be filed away.', calls: callsOfTurn }, { text: 'Done.' }]),
    tools: [listFiles, moveFile],
  });
}

/** Lets a run wait for two approvals, and reads Temporal's UI in a real browser. */
export async function readWaitingRunPages(options: WaitingRunOptions): Promise<WaitingRunPages> {
  const { address, uiUrl, namespace, context, pictures, workflowBundle, dataConverter } = options;
  let worker = await startWorker();
  const client = await createClient({ address, namespace, ...(dataConverter && { dataConverter }) });
  try {
    await client.start('tidy', 'Please tidy my downloads.', { workflowId });
    const handle = client.session.client.workflow.getHandle(workflowId);
    const requests = await eventually('two requests', async () => {
      const open = await handle.query<ApprovalRequest[]>('approvals');
      return open.length === 2 && open;
    });
    const { runId } = await handle.describe();
    const page = await context.newPage();
    const visit = (tab: string) =>
      page.goto(`${uiUrl}/namespaces/${namespace}/workflows/${workflowId}/${runId}/${tab}`);
    const photograph = async (name: string): Promise<void> => {
      if (pictures === undefined) return;
      // The timeline draws the dark ground of a label only when it refreshes.
      await page.waitForTimeout(5_000);
      await page.screenshot({ path: join(pictures, `${name}.png`) });
    };
    const textOfPage = async (awaited: Locator): Promise<string> => {
      await awaited.waitFor();
      return page.locator('body').innerText();
    };
    await visit('user-metadata');
    const userMetadata = await currentDetails(page, '2 approvals pending');
    await photograph('temporal-ui-waiting-run');
    await worker.stop();
    await visit('timeline');
    const timeline = await textOfPage(timerLabel(page));
    await photograph('temporal-ui-timeline');
    await visit('history');
    const history = await textOfPage(timerLabel(page));
    await visit('memo');
    const memo = await textOfPage(page.getByText('shownArguments').first());
    await photograph('temporal-ui-memo');
    worker = await startWorker();
    await visit('user-metadata');
    await currentDetails(page, '2 approvals pending');
    await signalByForm(page, JSON.stringify({ requestId: requests[0]!.requestId, approved: true }), () =>
      photograph('temporal-ui-send-signal'),
    );
    await eventually('one is left', async () => (await handle.query<ApprovalRequest[]>('approvals')).length === 1);
    await visit('user-metadata');
    const afterSignal = await currentDetails(page, '1 approval pending');
    return { requests, userMetadata, afterSignal, withoutWorker: { timeline, history, memo } };
  } finally {
    await worker.stop();
    await client.close();
  }

  async function startWorker(): Promise<{ stop: () => Promise<void> }> {
    const started = await createWorker({
      address,
      namespace,
      agents: [tidyAgent()],
      shutdownGraceTime: 500,
      logLevel: 'ERROR',
      ...(workflowBundle === undefined ? {} : { workflowBundle }),
      ...(dataConverter && { dataConverter }),
    });
    const working = started.run();
    let isStopped = false;
    return {
      stop: async () => {
        if (!isStopped) started.shutdown();
        isStopped = true;
        await working;
      },
    };
  }
}

/** The deadline timer, on the timeline and in the history. */
function timerLabel(page: Page): Locator {
  return page.getByText('countersign approvals').first();
}

/** The run's current details, which the page shows in a frame. */
async function currentDetails(page: Page, heading: string): Promise<string> {
  const frame = page.frameLocator('#user-metadata-current-details').locator('body');
  await frame.getByText(heading).waitFor();
  return frame.innerText();
}

/** Follows the instructions in the details: More Actions, Send a Signal. */
export async function signalByForm(page: Page, data: string, beforeSending: () => Promise<void>): Promise<void> {
  await page.getByRole('button', { name: 'More Actions' }).last().click();
  await page.getByRole('menuitem', { name: 'Send a Signal' }).click();
  const form = page.locator('dialog#signal-confirmation-modal[open]');
  // The page offers the signals that the run handles.
  await form.getByTestId('signal-select-button').click();
  await page.getByRole('option', { name: decideName }).last().click();
  await form.locator('.cm-content').click();
  await page.keyboard.insertText(data);
  // When it loses focus, the editor lays out the text again, and the button below moves.
  await form.locator('.cm-content').blur();
  await form.getByText('"approved": true').waitFor();
  await beforeSending();
  await form.getByTestId('confirm-modal-button').click();
}
