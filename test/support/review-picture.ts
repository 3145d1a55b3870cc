import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { defineAgent } from '../../src/agents/define-agent.ts';
import { defineTool } from '../../src/agents/define-tool.ts';
import { createClient } from '../../src/client/client.ts';
import { startDevServer } from '../../packages/cli/src/dev-server/start-dev-server.ts';
import { scriptedModel } from '../../src/models/scripted.ts';
import { createWorker } from '../../src/worker.ts';
import { openBrowser } from './browser.ts';
import { openTmux } from './tmux.ts';

const main = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url));

function supportAgent() {
  const refund = defineTool({
    name: 'refund',
    description: 'Refunds an order.',
    input: z.object({
      orderId: z.string(),
      amount: z.number().describe('In euros'),
      email: z.string().optional().describe('Where the receipt goes'),
    }),
    risk: 'destructive',
    execute: ({ orderId, amount }) => `refunded ${amount} for ${orderId}`,
  });
  const call = { tool: 'refund', args: { orderId: 'o-17', amount: 120.5, email: 'ann@аcme.com' } };
  return defineAgent({
    name: 'support',
    instructions: 'Help.',
    model: scriptedModel([{ text: 'The parcel never came, so I refund the order.', calls: [call] }, { text: 'Done.' }]),
    tools: [refund],
    policy: {
      rules: [{ pattern: 'refund', action: 'ask', reason: 'Money leaves the house', ask: { timeout: '30m' } }],
    },
  });
}

/** Photographs `countersign review` on a real terminal and writes `review.png`. */
export async function takeReviewPicture({ chromium, pictures }: { chromium: string; pictures: string }): Promise<void> {
  const server = await startDevServer();
  const worker = await createWorker({ address: server.address, agents: [supportAgent()], logLevel: 'ERROR' });
  const working = worker.run();
  const client = await createClient({ address: server.address });
  await client.start('support', 'My parcel o-17 never came.', { workflowId: 'ticket-8', caller: { userId: 'carl' } });
  const words = ['review', '--address', server.address, '--reviewer', 'rita'];
  const terminal = await openTmux([process.execPath, main, ...words], { columns: 80, rows: 34 });
  const browser = await openBrowser(chromium);
  try {
    await terminal.shows('[a]pprove');
    const page = await browser.context.newPage();
    await page.setContent(htmlOf(await terminal.screen(true)));
    await page.locator('pre').screenshot({ path: join(pictures, 'review.png') });
  } finally {
    await browser.close();
    await terminal.close();
    await client.close();
    worker.shutdown();
    await working;
    await server.stop();
  }
}

/** A change of colours, as terminals take it. */
const colourCode = new RegExp(String.raw`\u001b\[([\d;]*)m`, 'g');
const colours: Record<string, string> = {
  1: 'font-weight:bold',
  2: 'opacity:.6',
  7: 'background:#ddd;color:#111',
  31: 'color:#ff7b72',
  32: 'color:#7ee787',
  33: 'color:#e3b341',
};

/** A screen with its colours, as tmux writes them. */
function htmlOf(screen: string): string {
  let open = 0;
  const body = screen
    .trimEnd()
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(colourCode, (_, codes: string) => {
      const styles = codes.split(';').flatMap((code) => colours[code] ?? []);
      if (styles.length > 0) {
        open += 1;
        return `<span style="${styles.join(';')}">`;
      }
      const closing = '</span>'.repeat(open);
      open = 0;
      return closing;
    });
  const style = 'display:inline-block;padding:16px;background:#15181d;color:#e6e6e6;font:14px/1.35 monospace';
  return `<body style="margin:0"><pre style="${style}">${body}</pre></body>`;
}
