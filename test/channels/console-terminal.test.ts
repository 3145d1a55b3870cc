/** The console channel on a real terminal, in a process of its own. */
import { expect, test } from 'vitest';
import { channelRequest } from './channel-request.ts';
import { openTerminal } from './open-terminal.ts';

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

test('two requests are answered by lines, and the process ends by itself', async () => {
  const terminal = openTerminal([process.execPath, '--input-type=module-typescript', '-e', program]);
  try {
    const answer = async (line: string, ...texts: string[]): Promise<void> => {
      for (const text of [...texts, '[s]kip: ']) await terminal.shows(text);
      terminal.type(`${line}\n`);
    };
    await answer('', 'Refund 20 EUR');
    await answer('a', 'Not an answer');
    await answer('s', 'Refund 20 EUR');
    await terminal.shows('answers: true falseskipped');
    expect(await terminal.ended).toBe(0);
    expect(terminal.printed()).toMatch(/icanon echo $/);
  } finally {
    terminal.close();
  }
});
