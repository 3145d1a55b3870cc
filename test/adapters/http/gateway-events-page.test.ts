import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { openGatewayWorld } from '../../support/gateway-world.ts';
import { commandsOf, simpleCommands } from '../../support/page-commands.ts';

/** The commands of docs/gateway-events.md, run by curl against a gateway. */

const run = promisify(execFile);
const world = forAllTests(() => openGatewayWorld());

const commands = commandsOf('docs/gateway-events.md').filter(({ isWhole }) => isWhole);

/** What curl prints for a line of the page, for this run and this id. Of a stream without an end, what came in a while. */
async function printed(line: string, workflowId: string, id: string): Promise<string> {
  const [[program, ...words] = []] = simpleCommands(line);
  const given = words.map((word) =>
    word
      .replace('http://127.0.0.1:7280', world.gateway.url)
      .replace('ticket-8', workflowId)
      .replace(/^(Last-Event-ID: ).*$/, `$1${id}`),
  );
  const isEndless = line.includes('/approvals/events');
  const bounds = isEndless ? ['--max-time', '3'] : [];
  const { stdout } = await run(program!, ['-sS', ...bounds, ...given]).catch((error: { stdout: string }) => {
    if (!isEndless) throw error;
    return error;
  });
  return stdout;
}

test('each command gives what the page says', async () => {
  const started = await world.start([{ text: 'done' }]);
  await started.result();
  const { workflowId } = started;
  const [whole, resumed, list, inbox] = commands.map(({ line }) => line);
  expect(commands).toHaveLength(4);
  const all = await printed(whole!, workflowId, '');
  const ids = [...all.matchAll(/^id: (.*)$/gm)].map(([, id]) => id!);
  expect(ids).toHaveLength(3);
  expect(all).toMatch(/^event: RunItemEvent\nid: /m);
  expect(all).toMatch(/event: end\ndata: \{\}\n\n$/);
  const rest = await printed(resumed!, workflowId, ids[0]!);
  expect([...rest.matchAll(/^id: (.*)$/gm)].map(([, id]) => id)).toEqual(ids.slice(1));
  const { events } = JSON.parse(await printed(list!, workflowId, '')) as { events: { id: string }[] };
  expect(events.map(({ id }) => id)).toEqual(ids);
  expect(await printed(inbox!, workflowId, '')).toMatch(/event: snapshot\ndata: \{"approvals":/);
});
