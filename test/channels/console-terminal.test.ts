/** The console channel on a real terminal, in a process of its own. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { armingMs } from '../../src/text/console-line.ts';
import { channelRequest } from '../support/channel-request.ts';
import { hasTmux, openTmux, type TmuxTerminal } from '../support/tmux.ts';

const channels = new URL('../../src/channels.ts', import.meta.url).href;
const request = channelRequest({ sentence: 'Refund 20 EUR' });
/** Asks twice at once, prints both answers, and ends when nothing holds it any more. */
const program = `
import { consoleChannel } from ${JSON.stringify(channels)};
const request = ${JSON.stringify(request)};
const channel = consoleChannel();
const ask = () => channel.resolve(request, new AbortController().signal, { attempt: 1 });
const answers = await Promise.all([ask(), ask()]);
console.log('answers: ' + answers.map(({ approved, reason = '' }) => approved + reason).join(' '));
`;

const onTmux = hasTmux() ? describe : describe.skip;

onTmux('on a terminal (needs tmux)', () => {
  let terminal: TmuxTerminal;
  afterEach(() => terminal.close());

  test('two requests are answered by lines, and the process ends by itself', async () => {
    terminal = await openTmux([process.execPath, '--input-type=module-typescript', '-e', program], {
      rows: 100,
      env: { NODE_OPTIONS: '' },
    });
    await terminal.shows(/Refund 20 EUR[^]*\[s\]kip:/);
    await sleep(armingMs + 100);
    await terminal.press('Enter');
    await terminal.shows(/Not an answer[^]*\[s\]kip:/);
    await sleep(armingMs + 100);
    await terminal.type('a');
    await terminal.press('Enter');
    await terminal.shows(/\[s\]kip: a\n+Refund 20 EUR[^]*\[s\]kip:/);
    await sleep(armingMs + 100);
    await terminal.type('s');
    await terminal.press('Enter');
    await terminal.shows('answers: true falseskipped');
    expect(await terminal.ended()).toMatchObject({ code: 0 });
  });
});
