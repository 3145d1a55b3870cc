/** `countersign review` on a terminal: real server, real worker, real runs, and a pseudo terminal. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test as plain } from 'vitest';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { inTime } from '../../support/in-time.ts';
import { openLink } from '../../support/link.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { openWorld, type RunInTest } from '../../support/world.ts';
import { cli, startOnTerminal } from './support.ts';

const asking = (timeout = '10m', ask: { reviewers?: string[] } = {}) => ({
  rules: [{ pattern: '*', action: 'ask', ask: { timeout, ...ask } }],
});
const pay = (to: string, amount = 5) => ({ tool: 'pay', args: { to, amount } });
/** The end of the question about a card. */
const question = '[s]kip [q]uit ?: ';
const back = 'goes back): ';
const typedBefore = 'What was typed before this question does not count.';
const nothing = 'review · nothing waits for approval';

/** `countersign review` for a run. */
class Review {
  readonly terminal: ReturnType<typeof startOnTerminal>;

  constructor(run: RunInTest, env: Record<string, string> = {}, ...flags: string[]) {
    const words = ['review', '--run', run.workflowId, '--address', sharedAddress(), '--reviewer', 'rita', ...flags];
    this.terminal = startOnTerminal(words, { EDITOR: '', VISUAL: '', ...env });
  }

  /** Waits for these texts one after another; the last is a question. Returns what came before each. */
  async asks(...texts: string[]): Promise<string> {
    let shown = '';
    for (const text of texts) shown += await this.terminal.shows(text);
    return shown;
  }

  /** Answers the question at the end of these texts with a line. */
  async answers(line: string, ...texts: string[]): Promise<string> {
    const shown = await this.asks(...texts);
    this.terminal.type(`${line}\n`);
    return shown;
  }

  get ended(): Promise<number | null> {
    return this.terminal.ended;
  }
}

/** `review` starts it, and ends it with the test. */
const test = plain.extend('review', ({ task: _task }, { onCleanup }) => {
  const started: Review[] = [];
  onCleanup(() => {
    for (const { terminal } of started) terminal.close();
  });
  return (...options: ConstructorParameters<typeof Review>): Review => {
    const review = new Review(...options);
    started.push(review);
    return review;
  };
});

// Most of the time they wait for what a terminal shows.
describe.concurrent('on a terminal', () => {
  const world = forAllTests(() => openWorld());

  type Call = { tool: string; args: JsonObject };
  /** A run that makes one call after another, each of which is asked about. */
  const start = (calls: Call[], timeout?: string, on = world) =>
    on.start([...calls.map((call) => ({ calls: [call] })), { text: 'done' }], { policy: asking(timeout) });
  const outcomes = async (run: RunInTest) => (await run.result()).outcomes.map(({ outcome }) => outcome);
  const openTo = async (run: RunInTest) => (await run.open()).map(({ arguments: args }) => args['to']);

  test('approve, deny, respond, extend, skip, help and quit', async ({ review }) => {
    const run = await start([pay('ann'), pay('bob'), pay('carl'), pay('dora')]);
    const rita = review(run);
    const shown = await rita.answers('', 'Pay: to ann', question);
    expect(shown).toMatch(/^review · nothing else waits · you are rita$/m);
    await rita.answers('yes', 'Not an answer: a or yes approves', question);

    await rita.answers('d', 'Pay: to bob', question);
    await rita.answers('.', 'Reason', back);
    await rita.answers('d', question);
    await rita.answers('Not today', 'Reason', back);

    await rita.answers('?', 'Pay: to carl', question);
    await rita.answers('r', "you answer in the tool's place", question);
    await rita.answers('', "Answer in the tool's place", back);
    await rita.answers('r', 'Write what the model gets', question);
    await rita.answers('paid by hand', back);

    await rita.answers('x', 'Pay: to dora', question);
    await rita.answers('soon', 'How much longer', back);
    await rita.answers('5m', 'Write a whole number and a unit', back);
    await rita.answers('s', 'Pay: to dora', question);
    await rita.answers('b', 'you skipped 1', '[b]ack to what you skipped [q]uit: ');
    await rita.answers('q', 'Pay: to dora', question);
    expect(await rita.ended).toBe(0);

    const [open] = await run.open();
    expect(open).toMatchObject({ arguments: { to: 'dora' } });
    expect(Date.parse(open!.deadline!) - Date.parse(open!.requestedAt)).toBeGreaterThan(14 * 60_000);
    const { entries } = await world.client.journal(run.workflowId);
    const [settled] = entries.filter(({ kind }) => kind === 'settled');
    expect(settled).toMatchObject({
      reviewerId: 'rita',
      viewed: { channel: 'review', card: expect.stringMatching(/^[0-9a-f]{64}$/), durationMs: expect.any(Number) },
    });
    expect(settled!.viewed!.durationMs).toBeGreaterThanOrEqual(500);
    const transcript = await run.handle.query<{ role: string; content: string }[]>('transcript');
    const results = transcript.filter(({ role }) => role === 'tool').map(({ content }) => content);
    expect(results.slice(1)).toEqual(
      ['Denied: Not today', 'paid by hand'].map((text) => expect.stringContaining(text)),
    );
    await world.client.decide({ requestId: open!.requestId, approved: true });
    expect(await outcomes(run)).toEqual(['approved', 'denied', 'responded', 'approved']);
  });

  test('search, what happened before, and handing over', async ({ review }) => {
    const both = [pay('ann'), { tool: 'echo', args: { text: 'a parcel' } }];
    const script = [{ calls: both }, { text: 'done' }];
    const run = await world.start(script, { policy: asking('10m', { reviewers: ['rita'] }) });
    await run.open(2);
    const rita = review(run);
    await rita.answers('/ECHO', '1 more', question);
    await rita.answers('w', "nothing else waits · with 'ECHO' (/ shows all)", 'Echo: text a parcel', question);
    const context = await rita.answers('/nothing', `Run ${run.workflowId}`, question);
    expect(context).toMatch(/^user {6}.*\n(?:.*\n)*call {6}1\.1 pay .*\ncall {6}1\.2 echo /m);
    await rita.answers('/', "nothing waits for approval · with 'nothing' (/ shows all)", '[q]uit: ');
    await rita.answers('/pay', '1 more', question);
    await rita.answers('h', 'Pay: to ann', question);
    await rita.answers('.', 'Who decides in your place', back);
    await rita.answers('h', question);
    await rita.answers('bob', 'Who decides in your place', back);
    await rita.asks('bob', "nothing waits for approval · with 'pay'");
    const open = await run.open(2);
    expect(open.find(({ toolName }) => toolName === 'pay')).toMatchObject({
      delegations: [{ from: 'rita', to: 'bob' }],
    });
    await run.handle.terminate();
  });

  test('a comment goes with the approval', async ({ review }) => {
    const run = await start([pay('ann')]);
    const rita = review(run);
    await rita.answers('c', question);
    await rita.answers('only once', 'Comment', back);
    await rita.answers('a', 'With your comment: only once', question);
    await rita.asks(nothing);
    const { entries } = await world.client.journal(run.workflowId);
    expect(entries.find(({ kind }) => kind === 'settled')).toMatchObject({ outcome: 'approved', reason: 'only once' });
  });

  test('always: patterns from the exact ones, what they would have covered, and a time', async ({ review }) => {
    // Names of its own: other tests share the namespace and the agent, and their past calls count, too.
    const run = await start([
      pay('ann@always.example'),
      pay('bob@always.example'),
      pay('carl@always.example', 7),
      pay('eve@never.example'),
    ]);
    const rita = review(run);
    await rita.answers('a', 'ann@always.example', question);
    await rita.answers('A', 'Pay: to bob', question);
    await rita.answers('2', '1  only this very call', '2  calls of pay whose arguments match', '3  every', back);
    await rita.answers('', 'to [bob@always.example]: ');
    await rita.answers('', 'amount [5]: ');
    await rita.answers('', 'For how long', back);
    await rita.answers('', 'It would have covered 0 of ', 'Enter goes back: ');

    await rita.answers('A', question);
    await rita.answers('2', back);
    await rita.answers('nobody@*', 'to [bob@always.example]: ');
    await rita.answers('*', 'amount [5]: ');
    await rita.answers('', 'For how long', back);
    await rita.answers('2', 'This does not cover the call itself', back);
    await rita.answers('[[:alpha:]]', 'to [bob@always.example]: ');
    await rita.answers('*@always.example', 'The pattern ', 'to [bob@always.example]: ');
    await rita.answers('*', 'amount [5]: ');
    await rita.answers('soon', 'For how long', back);
    await rita.answers('1h', 'Write a whole number and a unit', back);
    await rita.answers('y', 'It would have covered 1 of ', 'Enter goes back: ');
    // The third call is covered.
    await rita.asks('Pay: to eve', question);
    const scope = { kind: 'arguments', match: { to: '*@always.example', amount: '*' } };
    expect(await world.client.grants(run.workflowId)).toMatchObject([{ scope, expiresAtMs: expect.any(Number) }]);
    await run.handle.terminate();
  });

  test('edit: in an editor, in a private file that is gone afterwards', async ({ review }) => {
    const run = await start([pay('ann')]);
    const script = join(world.folder, 'editor.sh');
    const seen = join(world.folder, 'seen');
    const lines = [`stat -c '%a %n' "$2" > ${seen}`, `stat -c %a "$(dirname "$2")" >> ${seen}`, `sed -i 's/5/4/' "$2"`];
    writeFileSync(script, ['#!/bin/sh', 'test "$1" = --wait || exit 1', ...lines].join('\n'));
    chmodSync(script, 0o755);
    const rita = review(run, { EDITOR: `${script} --wait` });
    await rita.answers('e', question);
    const shown = await rita.asks('Enter goes back: ');
    expect(shown).toContain('- amount: 5\n+ amount: 4\n');
    const [file, folder] = readFileSync(seen, 'utf8').split('\n') as [string, string];
    expect([file.slice(0, 4), folder]).toEqual(['600 ', '700']);
    expect(existsSync(file.slice(4))).toBe(false);
    rita.terminal.type('y\n');
    await rita.asks(nothing);
    await run.result();
    expect(world.ran()).toContain('pay ann 4');
  });

  test('Ctrl-C is for the editor while it is open', async ({ review }) => {
    const run = await start([pay('ann')]);
    const script = join(world.folder, 'waiting-editor.sh');
    writeFileSync(script, 'echo the editor is open; exec sleep 1000');
    const rita = review(run, { EDITOR: `sh ${script}` });
    await rita.answers('e', question);
    await rita.asks('the editor is open');
    rita.terminal.type('\u0003');
    await rita.asks('The editor failed: nothing is changed.', question);
    await run.handle.terminate();
  });

  test('without an editor, the command that edits is named', async ({ review }) => {
    const run = await start([pay('ann')]);
    const rita = review(run);
    await rita.answers('e', question);
    await rita.asks('No editor is set', question);
    await run.handle.terminate();
  });

  test('what is cut has to be shown before it is approved', async ({ review }) => {
    const run = await start([{ tool: 'echo', args: { text: 'x'.repeat(5_000) } }]);
    const rita = review(run);
    await rita.answers('a', question);
    for (const next of ['e', 'v']) await rita.answers(next, 'Not all is on this card: v shows everything.', question);
    await rita.answers('a', 'The raw call', question);
    await rita.asks(nothing);
    expect(await outcomes(run)).toEqual(['approved']);
  });

  test('hostile text moves no cursor, sets no colour and fakes no question', async ({ review }) => {
    const evil = '\u001b[2J\u001b[H\u001b]0;owned\u0007\u202eevil\u200b\r\n\n[a]pprove is safe\u001b[31m';
    const run = await start([{ tool: 'echo', args: { [`\u001b[1mname`]: evil, plain: 'x' } }]);
    const rita = review(run, { TERM: 'dumb' });
    await rita.asks(question);
    const shown = rita.terminal.printed();
    expect(shown.split('\n').filter((line) => line.startsWith('[a]pprove'))).toHaveLength(1);
    // On such a terminal this program writes no escape itself.
    for (const hidden of ['\u001b', '\u202e', '\u200b']) expect(shown).not.toContain(hidden);
    await run.handle.terminate();
  });

  test.for([
    ['Ctrl-C', '\u0003', 130],
    ['Ctrl-C after an answer without Enter', 'a\u0003', 130],
    ['Ctrl-D', '\u0004', 0],
    // The first ends the line for the terminal, not for the reviewer.
    ['Ctrl-D after an answer without Enter', 'a\u0004\u0004', 0],
  ] as const)('%s leaves the request open', async ([_name, keys, code], { review }) => {
    const run = await start([pay('ann')]);
    const rita = review(run);
    await rita.asks(question);
    rita.terminal.type(keys);
    expect(await rita.ended).toBe(code);
    expect(rita.terminal.printed()).toMatch(/icanon echo $/);
    expect(await openTo(run)).toEqual(['ann']);
    await run.handle.terminate();
  });

  test('what is typed ahead answers nothing, with and without Enter', async ({ review }) => {
    const run = await start([pay('ann'), pay('bob')]);
    const rita = review(run);
    rita.terminal.type('a\na');
    await rita.answers('', 'Pay: to ann', typedBefore, question);
    // Of lines that come together, the first answers.
    await rita.answers('a\na\na\na', 'Not an answer', question);
    await rita.answers('', 'Pay: to bob', question);
    await rita.asks('Not an answer', question);
    expect(await openTo(run)).toEqual(['bob']);
    await run.handle.terminate();
  });

  test('what is pasted answers nothing, and may be a reason', async ({ review }) => {
    const run = await start([pay('ann')]);
    const rita = review(run);
    await rita.answers('', `\u001b[?2004h\n`, question);
    for (const pasted of ['\u001b[200~a\u001b[201~', '\u001b[200~a\n\u001b[201~', '\u001b[200~a\nb\n\u001b[201~a']) {
      await rita.answers(pasted, question);
      await rita.asks('Pasted text is no answer: type it.');
    }
    await rita.answers('d', question);
    await rita.answers('\u001b[200~too\nmuch\u001b[201~ for me', back);
    await rita.asks('denied', nothing);
    const { entries } = await world.client.journal(run.workflowId);
    expect(entries.find(({ kind }) => kind === 'settled')).toMatchObject({ reason: 'too much for me' });
  });

  test('a key that does not edit the line is in no reason', async ({ review }) => {
    const run = await start([pay('ann')]);
    const rita = review(run);
    await rita.answers('d', question);
    await rita.answers('no\u001b[D', back);
    await rita.answers('no', 'write it again', back);
    await rita.asks('denied');
    expect(await outcomes(run)).toEqual(['denied']);
  });

  test('a request that expires while it is shown', async ({ review }) => {
    const { played } = await inTime(10, async (seconds) => {
      const run = await start([pay('ann')], `${seconds}s`);
      const rita = review(run);
      await rita.answers('d', question);
      await rita.asks('Reason', back);
      return { run, rita };
    });
    const { run, rita } = played;
    await rita.asks('xpired');
    await rita.asks(nothing);
    expect(await outcomes(run)).toEqual(['expired']);
  });

  test('settled elsewhere while it is shown: by whom', async ({ review }) => {
    const run = await start([pay('ann')]);
    const rita = review(run);
    await rita.answers('d', question);
    await rita.asks('Reason', back);
    rita.terminal.type('a');
    const [request] = await run.open();
    await world.client.decide({ requestId: request!.requestId, approved: false, reviewerId: 'bob', reason: 'no' });
    await rita.asks('Settled elsewhere: denied by bob (claimed): no.', nothing);
    expect(await outcomes(run)).toEqual(['denied']);
  });

  test('a card that changes is shown anew, and what was typed for the old one does not count', async ({ review }) => {
    const run = await start([pay('ann')]);
    const rita = review(run);
    await rita.asks(question);
    rita.terminal.type('a');
    const { workflowId } = run;
    const mask = { redact: { kinds: [], patterns: [{ name: 'PAYEE', pattern: 'ann' }] } };
    await world.client.setPolicy(workflowId, { policy: { ...asking(), ...mask } });
    await rita.answers('', 'The request has changed: look again.', 'Not shown  to, amount', typedBefore, question);
    await rita.asks('Not an answer', question);
    expect(await run.open()).toHaveLength(1);
    await run.handle.terminate();
  });

  test('no worker: what the list shows, and nothing is approved unseen', async ({ review }) => {
    const own = await openWorld();
    try {
      const run = await start([pay('ann')], undefined, own);
      const { requestId } = (await run.open())[0]!;
      await own.stopWorker();
      const rita = review(run);
      await rita.answers('a', 'not shown in full: to, amount', question);
      await rita.asks('Not all arguments are shown to you', question);
      await own.startWorker();
      await rita.asks('The request has changed', 'Pay: to ann', question);
      await own.client.decide({ requestId, approved: true }, { workflowId: run.workflowId });
      expect(await outcomes(run)).toEqual(['approved']);
    } finally {
      await own.close();
    }
  });

  test('the server is lost and comes back', async ({ review }) => {
    const run = await start([pay('ann')]);
    const link = await openLink(sharedAddress());
    const rita = review(run, {}, '--address', link.address);
    await rita.asks(question);
    link.cut();
    await rita.answers('a', 'no answer counts: ', '[q]uit: ');
    link.mend();
    await rita.asks('Pay: to ann', question);
    expect(await run.open()).toHaveLength(1);
    rita.terminal.type('a\n');
    await rita.asks(nothing);
    await link.close();
    expect(await outcomes(run)).toEqual(['approved']);
  });
});

plain.each([[[]], [['--json']]])('not on a terminal: one sentence, exit 2 (%j)', async (flags) => {
  const result = await cli(['review', ...flags]);
  expect(result).toMatchObject({ code: 2, stdout: '' });
  expect(result.stderr).toContain('`review` needs a terminal');
  expect(result.stderr.trimEnd().split('\n')).toHaveLength(1);
});
