/** `countersign review` on a real terminal: real server, real worker, real runs, and tmux. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test as plain } from 'vitest';
import { armingAgainMs } from '../../../packages/cli/src/review/arming.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { inTime } from '../../support/in-time.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { hasTmux, openTmux, type TmuxOptions, type TmuxTerminal } from '../../support/tmux.ts';
import { openLink } from '../../support/link.ts';
import { openWorld, type RunInTest, type World } from '../../support/world.ts';
import { cli } from './support.ts';

const main = fileURLToPath(new URL('../../../packages/cli/src/main.ts', import.meta.url));

const asking = (timeout = '10m') => ({ rules: [{ pattern: '*', action: 'ask', ask: { timeout } }] });
const pay = (to: string, amount = 5) => ({ tool: 'pay', args: { to, amount } });
/** The keys of an open card; without brackets they do not count yet. */
const armed = '[a]pprove';
const nothing = 'Nothing waits for approval';

/** `review` opens `countersign review` for a run, on a terminal of its own. */
const test = plain.extend('review', ({ task: _task }, { onCleanup }) => {
  const terminals: TmuxTerminal[] = [];
  onCleanup(async () => void (await Promise.all(terminals.map((each) => each.close()))));
  return async (run: RunInTest, options: TmuxOptions = {}, ...flags: string[]): Promise<TmuxTerminal> => {
    // A bug: with CI set, ink drew nothing, on a terminal too.
    const env = { NODE_OPTIONS: '', EDITOR: '', VISUAL: '', CI: 'true', ...options.env };
    const words = ['review', '--run', run.workflowId, '--address', sharedAddress(), '--reviewer', 'rita', ...flags];
    const terminal = await openTmux([process.execPath, main, ...words], { rows: 40, ...options, env });
    terminals.push(terminal);
    return terminal;
  };
});

const onTmux = hasTmux() ? describe : describe.skip;

// Most of the time they wait for what a screen shows.
onTmux.concurrent('on a terminal (needs tmux)', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());

  type Call = { tool: string; args: JsonObject };
  /** A run that makes one call after another, each of which is asked about. */
  const start = (calls: Call[], timeout?: string, on = world) =>
    on.start([...calls.map((call) => ({ calls: [call] })), { text: 'done' }], { policy: asking(timeout) });
  const outcomes = async (run: RunInTest) => (await run.result()).outcomes.map(({ outcome }) => outcome);
  const transcript = (run: RunInTest) => run.handle.query<{ role: string; content: string }[]>('transcript');

  test('approve, deny, respond, extend, skip, help and quit', async ({ review }) => {
    const run = await start([pay('ann'), pay('bob'), pay('carl'), pay('dora')]);
    const terminal = await review(run);
    await terminal.shows(/Pay: to ann[^]*\[a\]pprove/);
    await terminal.press('a');
    await terminal.shows('Pay: to bob');
    await terminal.shows(armed);

    await terminal.press('d');
    await terminal.shows('Deny. Reason');
    await terminal.type('Not today');
    await terminal.press('Enter');
    await terminal.shows('Pay: to carl');

    await terminal.shows(armed);
    await terminal.press('?');
    await terminal.shows("you answer in the tool's place");
    await terminal.press('Escape');
    await terminal.shows(armed);
    await terminal.press('r');
    await terminal.shows("Answer in the tool's place");
    await terminal.press('Enter');
    await terminal.shows('Write what the model gets');
    await terminal.type('paid by hand');
    await terminal.press('Enter');

    await terminal.shows(/Pay: to dora[^]*\[a\]pprove/);
    await terminal.press('x');
    await terminal.shows('How much longer');
    await terminal.type('soon');
    await terminal.press('Enter');
    await terminal.shows('Write a whole number and a unit');
    await terminal.press('C-u');
    await terminal.type('5m');
    await terminal.press('Enter');
    await terminal.shows(/1[0-5]m\d*s? left/);
    await terminal.shows(armed);
    await terminal.press('s');
    await terminal.shows('you skipped 1');
    await terminal.shows('[b]ack');
    await terminal.press('b');
    await terminal.shows(/Pay: to dora[^]*\[q\]uit/);
    await terminal.press('q');
    expect(await terminal.ended()).toMatchObject({ code: 0, restored: true });

    const [open] = await run.open();
    expect(open).toMatchObject({ arguments: { to: 'dora' } });
    const { entries } = await world.client.journal(run.workflowId);
    const [settled] = entries.filter(({ kind }) => kind === 'settled');
    expect(settled).toMatchObject({
      reviewerId: 'rita',
      viewed: { channel: 'review', card: expect.stringMatching(/^[0-9a-f]{64}$/), durationMs: expect.any(Number) },
    });
    expect(settled!.viewed!.durationMs).toBeGreaterThanOrEqual(500);

    const told = (await transcript(run)).filter(({ role }) => role === 'tool').map(({ content }) => content);
    expect(told.slice(1)).toEqual(
      ['"Denied: Not today"', '"paid by hand"'].map((text) => expect.stringContaining(text.replaceAll('"', ''))),
    );
    await world.client.decide({ requestId: open!.requestId, approved: true });
    expect(await outcomes(run)).toEqual(['approved', 'denied', 'responded', 'approved']);
  });

  test('always: the narrowest scope, what it would have covered, and a wider pattern', async ({ review }) => {
    const run = await start([pay('ann@acme.com'), pay('bob@acme.com'), pay('carl@acme.com', 7), pay('eve@evil.com')]);
    const terminal = await review(run);
    await terminal.shows(/ann@acme.com[^]*\[a\]pprove/);
    await terminal.press('a');
    await terminal.shows(/Pay: to bob[^]*\[a\]pprove/);
    await terminal.press('A');
    await terminal.shows('[y]es');
    // The past calls are read meanwhile.
    const narrow = await terminal.shows('It would have covered 0 of 1 past calls of pay');
    expect(narrow).toContain('> (*) calls of pay whose arguments match');
    expect(narrow).toMatch(/to: bob@acme\.com\n[^]*amount: 5\n/);
    await terminal.press('Down', 'e');
    await terminal.shows('Enter: take this pattern');
    await terminal.press('C-u');
    await terminal.type('*@acme.com');
    await terminal.press('Enter');
    await terminal.shows('It would have covered 1 of 1 past calls of pay');
    await terminal.press('Down', 'Space');
    await terminal.shows('amount: any value');
    await terminal.shows('[y]es');
    await terminal.press('y');
    // The third call is covered.
    await terminal.shows(/Pay: to eve[^]*\[a\]pprove/);
    const grants = await world.client.grants(run.workflowId);
    expect(grants).toMatchObject([{ scope: { kind: 'arguments', match: { to: '*@acme.com' } } }]);
    await terminal.press('C-c');
    expect(await terminal.ended()).toMatchObject({ code: 130, restored: true });
    expect((await run.open())[0]).toMatchObject({ arguments: { to: 'eve@evil.com' } });
    await run.handle.terminate();
  });

  test('edit: in an editor, in a private file that is gone afterwards', async ({ review }) => {
    const run = await start([pay('ann')]);
    const script = join(world.folder, 'editor.sh');
    const seen = join(world.folder, 'seen');
    const lines = [`stat -c '%a %n' "$2" > ${seen}`, `stat -c %a "$(dirname "$2")" >> ${seen}`, `sed -i 's/5/4/' "$2"`];
    writeFileSync(script, ['#!/bin/sh', 'test "$1" = --wait || exit 1', ...lines].join('\n'));
    chmodSync(script, 0o755);
    const terminal = await review(run, { env: { EDITOR: `${script} --wait`, VISUAL: '' } });
    await terminal.shows(armed);
    await terminal.press('e');
    const shown = await terminal.shows('[y]es');
    expect(shown).toContain('- amount: 5');
    expect(shown).toContain('+ amount: 4');
    const [file, folder] = readFileSync(seen, 'utf8').split('\n') as [string, string];
    expect([file.slice(0, 4), folder]).toEqual(['600 ', '700']);
    expect(existsSync(file.slice(4))).toBe(false);
    await terminal.press('y');
    await terminal.shows(nothing);
    await run.result();
    expect(world.ran()).toContain('pay ann 4');
  });

  test('edit: without an editor, on the screen', async ({ review }) => {
    const run = await start([pay('ann', 6)]);
    const terminal = await review(run);
    await terminal.shows(armed);
    await terminal.press('e');
    await terminal.shows('Ctrl-S');
    await terminal.press('Down', 'Down', 'End', 'BSpace', 'BSpace', 'C-s');
    await terminal.shows(/The JSON|the arguments/i);
    await terminal.type(' 3');
    await terminal.press('C-s');
    expect(await terminal.shows('[y]es')).toContain('+ amount: 3');
    await terminal.press('Escape');
    await terminal.shows(armed);
    await run.handle.terminate();
  });

  test('60 columns and 20 rows: nothing is wider, and a call is approved only after it was seen', async ({
    review,
  }) => {
    const text = Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\n');
    const run = await start([{ tool: 'echo', args: { text } }]);
    const terminal = await review(run, { columns: 60, rows: 20 });
    const first = await terminal.shows(armed);
    expect(first.trimEnd().split('\n').length).toBeLessThanOrEqual(20);
    expect(first).not.toContain('line 29');
    await terminal.press('a');
    await terminal.shows(/You have not seen \d+ of its lines/);
    await terminal.press('End');
    await terminal.shows(/lines \d+ to (\d+) of \1/);
    await terminal.press('a');
    await terminal.shows(/You have not seen \d+ of its lines/); // what lies between was not on the screen
    await terminal.press('Home');
    await terminal.shows('lines 1 to');
    for (let shown = await terminal.screen(); !shown.includes('Who and what');) {
      await terminal.press('Space');
      shown = await terminal.loses(/lines \d+ to \d+ of/.exec(shown)![0]);
    }
    await terminal.resize(100, 30);
    // In one row now, and there once keys count.
    await terminal.shows(/^\[a\]pprove .*\[q\]uit$/m);
    await terminal.press('a');
    await terminal.shows(nothing);
    expect(await outcomes(run)).toEqual(['approved']);
  });

  test('a window that is too small takes no answer', async ({ review }) => {
    const run = await start([pay('ann')]);
    const terminal = await review(run);
    await terminal.shows(armed);
    await terminal.resize(30, 8);
    await terminal.shows('Make the window');
    await terminal.press('a');
    await terminal.resize(80, 30);
    await terminal.shows(armed);
    expect(await run.open()).toHaveLength(1);
    await run.handle.terminate();
  });

  test('hostile text moves no cursor, sets no colour and fakes no line of this program', async ({ review }) => {
    const evil = '\u001b[2J\u001b[H\u001b]0;owned\u0007\u202eevil\u200b\r\n\n[a]pprove is safe\u001b[31m';
    const run = await start([{ tool: 'echo', args: { [`\u001b[1mname`]: evil, plain: 'x' } }]);
    const terminal = await review(run, { env: { NO_COLOR: '1' } });
    const shown = await terminal.shows(/^\[a\]pprove/m);
    const rows = shown.trimEnd().split('\n');
    expect(rows[0]).toMatch(/^review · \d\S* left · nothing else waits · you are rita$/);
    const answers = rows.findIndex((row) => row.startsWith('[a]pprove'));
    expect(rows.slice(answers).join(' ')).toMatch(/^\[a\]pprove .* \[q\]uit$/);
    for (const row of rows.slice(2, answers - 2)) expect(row).toMatch(/^│/);
    expect(rows.filter((row) => row.startsWith('[a]pprove'))).toHaveLength(1);
    expect(shown).not.toMatch(/[\u202e\u200b]/);
    // Without colours there is no escape at all.
    expect(await terminal.screen(true)).not.toContain('\u001b[');
    await run.handle.terminate();
  });

  test('Ctrl-C leaves the request open and the terminal as it was', async ({ review }) => {
    const run = await start([pay('ann')]);
    const terminal = await review(run);
    await terminal.shows(armed);
    await terminal.press('d');
    await terminal.shows('Deny. Reason');
    await terminal.press('C-c');
    expect(await terminal.ended()).toMatchObject({ code: 130, restored: true });
    expect(await run.open()).toHaveLength(1);
    await run.handle.terminate();
  });

  test('a draw that comes late leaves the terminal as it was', async () => {
    const screen = new URL('../../../packages/cli/src/review/screen.ts', import.meta.url);
    const code = `
      const { openScreen } = await import('${screen.href}');
      const screen = openScreen({ press() {}, resize() {} });
      await screen.draw(['one']);
      await screen.close();
      await screen.draw(['two']);
    `;
    const terminal = await openTmux([process.execPath, '--input-type=module', '--eval', code]);
    try {
      expect(await terminal.ended()).toMatchObject({ code: 0, restored: true });
    } finally {
      await terminal.close();
    }
  });

  test('a request that expires while it is shown', async ({ review }) => {
    const { played } = await inTime(10, async (seconds) => {
      const asked = await start([pay('ann')], `${seconds}s`);
      const shown = await review(asked);
      await shown.shows(armed);
      await shown.press('d');
      await shown.shows('Deny. Reason');
      return { run: asked, terminal: shown };
    });
    const { run, terminal } = played;
    await terminal.shows(/Expired: it can no longer be answered|Settled elsewhere: expired/);
    await terminal.press('a', 'Enter');
    await terminal.shows('Settled elsewhere: expired');
    await terminal.shows('[n]ext');
    await terminal.press('n');
    await terminal.shows(nothing);
    expect(await outcomes(run)).toEqual(['expired']);
  });

  test('a key that is held down answers one request', async ({ review }) => {
    /** Holds it down from the first card on, until the second has been there for longer than the delay. */
    const hold = async () => {
      const run = await start([pay('ann'), pay('bob')]);
      const terminal = await review(run);
      await terminal.shows(armed);
      let [longestPauseMs, pressedAtMs] = [0, Date.now()];
      let untilMs = Infinity;
      while (pressedAtMs < untilMs) {
        await terminal.press('a');
        longestPauseMs = Math.max(longestPauseMs, Date.now() - pressedAtMs);
        pressedAtMs = Date.now();
        if (untilMs === Infinity && (await terminal.screen()).includes('Pay: to bob')) {
          untilMs = pressedAtMs + armingAgainMs + 1_000;
        }
        await sleep(10);
      }
      return { run, terminal, longestPauseMs };
    };
    let held = await hold();
    // A busy machine let the key go.
    while (held.longestPauseMs > armingAgainMs / 2) held = await hold();
    const { run, terminal } = held;
    expect(await run.open()).toMatchObject([{ arguments: { to: 'bob' } }]);
    await terminal.shows(armed);
    // The last repeats may come late, and the delay begins with them.
    for (let pauseMs = armingAgainMs; !(await terminal.screen()).includes(nothing); pauseMs *= 2) {
      await sleep(pauseMs);
      await terminal.press('a');
    }
    expect(await outcomes(run)).toEqual(['approved', 'approved']);
  });

  test('what is typed ahead or pasted answers nothing', async ({ review }) => {
    const run = await start([pay('ann'), pay('bob')]);
    const terminal = await review(run);
    await terminal.shows(armed);
    await terminal.type('aa');
    await terminal.paste('a');
    await terminal.shows(armed);
    expect(await run.open()).toMatchObject([{ arguments: { to: 'ann' } }]);
    await run.handle.terminate();
  });

  test('settled elsewhere while it is shown: by whom', async ({ review }) => {
    const run = await start([pay('ann')]);
    const terminal = await review(run);
    await terminal.shows(armed);
    const [request] = await run.open();
    await world.client.decide({ requestId: request!.requestId, approved: false, reviewerId: 'bob', reason: 'no' });
    await terminal.shows('Settled elsewhere: denied by bob (claimed): no.');
    await terminal.press('a');
    await terminal.shows('[n]ext');
    await terminal.press('n');
    await terminal.shows(nothing);
    expect(await outcomes(run)).toEqual(['denied']);
  });

  test('a terminal that cannot move its cursor: one line for each request', async ({ review }) => {
    const run = await start([pay('ann'), pay('bob'), pay('carl')]);
    const terminal = await review(run, { env: { TERM: 'dumb' }, rows: 100 });
    /** A line counts half a second after its question. */
    const answer = async (question: RegExp, text: string): Promise<void> => {
      await terminal.shows(question);
      await sleep(700);
      await terminal.type(`${text}\n`);
    };
    await answer(/ann[^]*\[s\]kip:/, '');
    await answer(/Not an answer[^]*\[s\]kip:/, 'yes\nyes');
    await answer(/Pay: to bob[^]*\[s\]kip:/, 'no');
    await answer(/Pay: to carl[^]*\[s\]kip:/, 's');
    await terminal.shows('Nothing else waits');
    await terminal.press('C-d');
    expect(await terminal.ended()).toMatchObject({ code: 0, restored: true });
    expect(await run.open()).toMatchObject([{ arguments: { to: 'carl' } }]);
    expect((await run.status()).outcomes.map(({ outcome }) => outcome)).toEqual(['approved', 'denied']);
    await run.handle.terminate();
  });

  test('no worker: what the list shows, and nothing is approved unseen', async ({ review }) => {
    const own = await openWorld();
    try {
      const run = await start([pay('ann')], undefined, own);
      const { requestId } = (await run.open())[0]!;
      await own.stopWorker();
      const terminal = await review(run);
      const shown = await terminal.shows(armed);
      expect(shown).toContain('not shown in full: to, amount');
      await terminal.press('a');
      await terminal.shows('Not all arguments are shown to you');
      await own.startWorker();
      await own.client.decide({ requestId, approved: true }, { workflowId: run.workflowId });
      expect(await outcomes(run)).toEqual(['approved']);
    } finally {
      await own.close();
    }
  });

  test('the server is lost and comes back', async ({ review }) => {
    const run = await start([pay('ann')]);
    const link = await openLink(sharedAddress());
    const terminal = await review(run, {}, '--address', link.address);
    await terminal.shows(armed);
    link.cut();
    await terminal.shows('No key counts');
    await terminal.press('a');
    link.mend();
    await terminal.loses('No key counts');
    await terminal.shows(armed);
    expect(await run.open()).toHaveLength(1);
    await terminal.press('a');
    await terminal.shows(nothing);
    await link.close();
    expect(await outcomes(run)).toEqual(['approved']);
  });
});

test.each([[[]], [['--json']]])('not on a terminal: one sentence, exit 2 (%j)', async (flags) => {
  const result = await cli(['review', ...flags]);
  expect(result).toMatchObject({ code: 2, stdout: '' });
  expect(result.stderr).toContain('`review` needs a terminal');
  expect(result.stderr.trimEnd().split('\n')).toHaveLength(1);
});
