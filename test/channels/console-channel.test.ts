import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { PassThrough } from 'node:stream';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Output } from '../../packages/cli/src/base/output.ts';
import { WorkerLog } from '../../packages/cli/src/serve/worker-log.ts';
import { consoleChannel } from '../../src/channels/console-channel.ts';
import type { ChannelRequest } from '../../src/channels/channel.ts';
import { checkAnswer } from '../../src/channels/channel-answer.ts';
import { armingMs } from '../../src/text/console-line.ts';
import { channelRequest, firstAttempt } from './channel-request.ts';
import { TypedTerminal } from './typed-terminal.ts';

const request = channelRequest({ always: { widest: 'tool' } });
const shown = { digest: request.digest, userMessages: 0 };

function ask(terminal: TypedTerminal, asked: ChannelRequest = request, signal = new AbortController().signal) {
  const channel = consoleChannel({ input: terminal.input, output: terminal.output });
  return Promise.resolve(channel.resolve!(asked, signal, firstAttempt)).then(checkAnswer);
}

describe('one line answers', () => {
  const approved = { approved: true, ...shown };
  const denied = { approved: false, ...shown };
  const skipped = { approved: false, reason: 'skipped', ...shown };
  const always = { approved: true, ...shown, always: { kind: 'tool' } };
  test.concurrent.each<[string, object]>([
    ['a', approved],
    ['approve', approved],
    ['yes', approved],
    ['y', approved],
    [' y ', approved],
    ['A', always],
    ['always', always],
    ['d', denied],
    ['deny', denied],
    ['no', denied],
    ['n', denied],
    ['s', skipped],
    ['skip', skipped],
  ])('%j', async (line, answer) => {
    const terminal = new TypedTerminal();
    const asked = ask(terminal);
    await terminal.answers(line);
    expect(await asked).toStrictEqual(answer);
  });

  test('the card is shown before the question, in the width of the terminal', async () => {
    const terminal = new TypedTerminal();
    const asked = ask(terminal, channelRequest({ contextSummary: 'a \u001b[2Jtrick', sentence: 'Refund 20 EUR' }));
    await terminal.answers('n');
    await asked;
    expect(terminal.shown).toMatch(/^\nRefund 20 EUR\n[^]*o-17[^]*\n\n\[a\]pprove \[d\]eny \[s\]kip: $/);
    expect(terminal.shown).not.toContain('\u001b');
    expect(Math.max(...terminal.shown.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });
});

describe('nothing is approved by mistake', () => {
  test('Enter alone and anything else asks again', async () => {
    const terminal = new TypedTerminal();
    const asked = ask(terminal);
    await terminal.answers('', '   ', 'ok', 'aa', 'yes please', '1', 'n');
    expect(await asked).toEqual({ approved: false, ...shown });
    expect(terminal.shown.match(/Not an answer: a or yes approves/g)).toHaveLength(6);
  });

  test('the question appears once nothing is typed; what came before, also without Enter, is dropped', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const terminal = new TypedTerminal();
    const pass = async (ms: number): Promise<void> => {
      for (let turn = 0; turn < 5; turn += 1) await setImmediate();
      vi.advanceTimersByTime(ms);
      for (let turn = 0; turn < 5; turn += 1) await setImmediate();
    };
    terminal.typeNow('a\na');
    const asked = ask(terminal);
    for (const keys of ['', 'a\n', 'a', '\n']) {
      terminal.typeNow(keys);
      await pass(armingMs - 1);
    }
    expect(terminal.shown).not.toContain('[s]kip: ');
    await pass(1);
    expect(terminal.shown).toMatch(/What was typed before this question does not count\.\n\[a\]pprove .*: $/);
    vi.useRealTimers();
    terminal.typeNow('\n');
    await terminal.shows('Not an answer');
    await terminal.answers('d');
    expect(await asked).toMatchObject({ approved: false });
  });

  test('nor does what was typed under a question that was withdrawn', async () => {
    const terminal = new TypedTerminal();
    const stop = new AbortController();
    const first = ask(terminal, request, stop.signal);
    await terminal.shows('[s]kip: ');
    terminal.typeNow('a');
    stop.abort(new Error('settled'));
    await expect(first).rejects.toThrow('settled');
    terminal.typeNow('a');
    const second = ask(terminal);
    await terminal.answers('');
    await terminal.shows('Not an answer');
    await terminal.answers('d');
    expect(await second).toMatchObject({ approved: false });
  });

  test.each([
    ['in one line', '\u001b[200~a\u001b[201~\n'],
    ['with its Enter', '\u001b[200~a\n\u001b[201~\n'],
    ['in several lines', '\u001b[200~a\na\n\u001b[201~a\n'],
    ['beside what is typed', '\u001b[200~\n\u001b[201~a\u001b[200~yes\u001b[201~\n'],
  ])('what is pasted does not count: %s', async (_name, pasted) => {
    const terminal = new TypedTerminal();
    const asked = ask(terminal);
    await terminal.answers(pasted.slice(0, -1));
    await terminal.shows('Pasted text is no answer: type it.');
    await terminal.answers('d');
    expect(await asked).toMatchObject({ approved: false });
  });

  test('what the end of the input cuts off is no answer', async () => {
    const terminal = new TypedTerminal();
    const stop = new AbortController();
    const asked = ask(terminal, request, stop.signal);
    await terminal.shows('[s]kip: ');
    terminal.input.end('a');
    await terminal.shows('The input has ended: the request stays open.');
    stop.abort(new Error('the deadline'));
    await expect(asked).rejects.toThrow('the deadline');
  });

  test('of lines that come together only the first counts, and none for the next request', async () => {
    const terminal = new TypedTerminal();
    const first = ask(terminal);
    const second = ask(terminal, channelRequest({ toolName: 'wipe' }));
    await terminal.answers('d\na\na');
    expect(await first).toMatchObject({ approved: false });
    await terminal.answers('n');
    expect(await second).toMatchObject({ approved: false });
  });

  test('a request of which not all is shown is not approved', async () => {
    const terminal = new TypedTerminal();
    const asked = ask(terminal, channelRequest({ shown: 'part', arguments: {}, argumentNames: ['amount'] }));
    await terminal.answers('a', 'A', 'd');
    expect(await asked).toMatchObject({ approved: false });
    expect(terminal.shown.match(/Not all arguments are shown here/g)).toHaveLength(2);
  });

  test.each([
    ['tool', 'tool', "It runs, and so do all later calls of 'refund' in this run"],
    ['arguments', 'call', 'It runs, and so do later calls of this run with exactly these arguments'],
    ['call', 'call', 'It runs, and so do later calls of this run with exactly these arguments'],
  ] as const)('the card says what "always" grants where rules admit at most: %s', async (widest, kind, effect) => {
    const terminal = new TypedTerminal();
    const asked = ask(terminal, channelRequest({ toolName: 'refund', always: { widest } }));
    await terminal.answers('A');
    expect(await asked).toEqual({ approved: true, ...shown, always: { kind } });
    expect(terminal.shown.replaceAll(/\s+/g, ' ')).toContain(effect);
  });

  test('"always" is not offered where a placeholder hides a value', async () => {
    const terminal = new TypedTerminal();
    const asked = ask(terminal, channelRequest({ always: { widest: 'tool' }, redacted: ['orderId'] }));
    await terminal.answers('A', 'd');
    expect(await asked).toMatchObject({ approved: false });
    expect(terminal.shown).toContain('\n\n[a]pprove [d]eny [s]kip: ');
  });

  test('a line of the log stands above the question, which is asked again', async () => {
    const terminal = new TypedTerminal();
    const asked = ask(terminal, channelRequest());
    const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => terminal.output.write(text));
    const log = new WorkerLog({ forPeople: true } as Output, {});
    await vi.waitFor(() => expect(terminal.shown).toContain('[s]kip: '));
    log.warn('the server is slow');
    log.info('nobody reads this');
    write.mockRestore();
    await terminal.answers('d');
    await asked;
    expect(terminal.shown).toMatch(/\[s\]kip: \n[^\n]*the server is slow\n\[a\]pprove \[d\]eny \[s\]kip: $/);
  });

  test('"always" is refused where the rules admit none', async () => {
    const terminal = new TypedTerminal();
    const asked = ask(terminal, channelRequest());
    await terminal.answers('A', 'a');
    expect(await asked).toEqual({ approved: true, ...shown });
    expect(terminal.shown).toContain('The rule that asks admits no "always".');
  });
});

describe('one question at a time', () => {
  test('requests queue, in the order in which they came, also those of another channel', async () => {
    const terminal = new TypedTerminal();
    const asked = ['one', 'two', 'three'].map((sentence) => ask(terminal, channelRequest({ sentence })));
    await terminal.answers('a');
    expect(await asked[0]).toMatchObject({ approved: true });
    await terminal.shows('two');
    expect(terminal.shown).not.toContain('three');
    await terminal.answers('d', 's');
    expect(await Promise.all(asked)).toMatchObject([{ approved: true }, { approved: false }, { reason: 'skipped' }]);
  });

  test('one that is settled elsewhere while it asks is dropped, and the next is asked', async () => {
    const terminal = new TypedTerminal();
    const stop = new AbortController();
    const why = new Error('settled elsewhere');
    const first = ask(terminal, channelRequest({ sentence: 'one' }), stop.signal);
    const second = ask(terminal, channelRequest({ sentence: 'two' }));
    await terminal.shows('[s]kip: ');
    stop.abort(why);
    await expect(first).rejects.toBe(why);
    await terminal.shows('No answer is needed here any more');
    await terminal.shows('two');
    await terminal.answers('a');
    expect(await second).toMatchObject({ approved: true });
    expect(terminal.shown).not.toContain('The input has ended');
  });

  test('one that is settled while it waits for the terminal is never shown', async () => {
    const terminal = new TypedTerminal();
    const stop = new AbortController();
    const first = ask(terminal, channelRequest({ sentence: 'one' }));
    const second = ask(terminal, channelRequest({ sentence: 'two' }), stop.signal);
    const third = ask(terminal, channelRequest({ sentence: 'three' }));
    stop.abort(new Error('settled'));
    await expect(second).rejects.toThrow('settled');
    await terminal.answers('a', 'd');
    expect(await Promise.all([first, third])).toMatchObject([{ approved: true }, { approved: false }]);
    expect(terminal.shown).not.toContain('two');
    expect(terminal.shown).not.toContain('No answer is needed');
  });

  test('one that is settled already is not asked about', async () => {
    const terminal = new TypedTerminal();
    await expect(ask(terminal, request, AbortSignal.abort(new Error('settled')))).rejects.toThrow('settled');
    expect(terminal.shown).toBe('');
  });
});

describe('a request stays open', () => {
  const staysOpen = async (asked: Promise<unknown>, stop: AbortController): Promise<void> => {
    const why = new Error('the deadline');
    const state = await Promise.race([asked.catch(() => 'ended'), sleep(100, 'open')]);
    expect(state).toBe('open');
    stop.abort(why);
    await expect(asked).rejects.toBe(why);
  };

  test.each(['input', 'output'] as const)('if the %s is no terminal', async (part) => {
    const terminal = new TypedTerminal();
    Object.assign(terminal, { [part]: new PassThrough() });
    const stop = new AbortController();
    const asked = ask(terminal, request, stop.signal);
    terminal.typeNow('a\n');
    await staysOpen(asked, stop);
    expect(terminal.shown).toBe('');
  });

  test.each<[string, (terminal: TypedTerminal) => void]>([
    ['ends', ({ input }) => input.end()],
    ['ends after a line that is no answer', ({ input }) => input.end('x\n')],
    ['goes away', ({ input }) => input.destroy(new Error('read EIO'))],
  ])('if the terminal %s, as do those that come later', async (_name, end) => {
    const terminal = new TypedTerminal();
    const stop = new AbortController();
    const asked = ask(terminal, request, stop.signal);
    await terminal.shows('[s]kip: ');
    await sleep(armingMs + 20);
    end(terminal);
    await terminal.shows('The input has ended: the request stays open.');
    const later = new AbortController();
    await staysOpen(ask(terminal, request, later.signal), later);
    await staysOpen(asked, stop);
  });
});

test('its time-out is five minutes, or what is given', () => {
  expect(consoleChannel().timeoutMs).toBe(300_000);
  expect(consoleChannel({ timeoutMs: 5 }).timeoutMs).toBe(5);
});

test('the input is left alone between questions, so that it does not keep the process alive', async () => {
  const terminal = new TypedTerminal();
  const count = (): number[] => ['data', 'end', 'error', 'close'].map((name) => terminal.input.listenerCount(name));
  const before = count();
  for (const line of ['a', 'd']) {
    const asked = ask(terminal);
    await terminal.answers(line);
    await asked;
    expect(terminal.input.isPaused()).toBe(true);
    expect(count()).toEqual(before);
  }
});
