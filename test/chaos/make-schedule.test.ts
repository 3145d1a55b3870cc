import { describe, expect, test } from 'vitest';
import { longestWaitMs } from './approval-settings.ts';
import { makeSchedule } from './make-schedule.ts';
import type { PlannedControl } from './planned-control.ts';
import type { ChaosSchedule, PlannedSend } from './schedule.ts';
import { allRuns, askedCalls, plannedSends } from './all-runs.ts';
import { plainSender, senderCount } from './schedule.ts';

const whole = makeSchedule({ runs: 200, seed: 1 });
const sendsOf = ({ runs }: ChaosSchedule) => allRuns(runs).flatMap(({ turns }) => turns.flatMap(({ sends }) => sends));
const itemsOf = (schedule: ChaosSchedule) => sendsOf(schedule).flatMap(({ items }) => items);
const controlsOf = ({ runs }: ChaosSchedule) =>
  allRuns(runs).flatMap(({ turns }) => turns.flatMap(({ controls }) => controls));
const kindsOf = <Kind extends PlannedControl['kind']>(kind: Kind) =>
  controlsOf(whole).filter((each): each is Extract<PlannedControl, { kind: Kind }> => each.kind === kind);
/** How many messages repeat the content of another one. */
const repeated = (controls: readonly PlannedControl[]): number => {
  const texts = controls.map(({ when: _when, via: _door, ...said }) => JSON.stringify(said));
  return texts.length - new Set(texts).size;
};
/** How many ids are used by messages with different content. */
const misused = (controls: readonly PlannedControl[]): number => {
  const said = new Map<string, Set<string>>();
  for (const { when: _when, via: _door, messageId, ...rest } of controls) {
    if (messageId !== undefined) said.set(messageId, (said.get(messageId) ?? new Set()).add(JSON.stringify(rest)));
  }
  return [...said.values()].filter(({ size }) => size > 1).length;
};
/** Several senders, signals and updates, valid and invalid ones, all sent as one nested run ends. */
const isCrowd = (sends: readonly PlannedSend[]): boolean => {
  const sent = sends.filter(({ when }) => typeof when === 'object' && 'nested' in when);
  const faults = sent.flatMap(({ items }) => items.map(({ fault }) => fault));
  const [ways, senders] = [sent.map(({ via }) => via), sent.map(({ sender }) => sender)];
  const isMixed = ways.includes('signal') && ways.includes('update') && new Set(senders).size >= 3;
  return isMixed && faults.includes(undefined) && faults.some((fault) => fault !== undefined);
};
/** How each run decides: reviewers, quorum, one of each, veto, and whether only signed decisions count. */
const panels = whole.runs.map(({ reviewers, votes, verified }) => ({ reviewers, ...votes, verified }));
const namesOf = (names: readonly string[]): string[] => [...new Set(names)].toSorted();

test('the seed determines the schedule', () => {
  expect(makeSchedule({ runs: 200, seed: 1 })).toEqual(whole);
  expect(makeSchedule({ runs: 200, seed: 2 })).not.toEqual(whole);
});

test('a schedule survives a round trip through JSON', () => {
  expect(JSON.parse(JSON.stringify(whole))).toEqual(whole);
});

describe('200 runs cover everything that the chaos test is about', () => {
  test.each([
    ['1,000 requests and more', askedCalls(whole) >= 1_000, true],
    ['more decisions than requests', plannedSends(whole) > askedCalls(whole), true],
    [
      'every tool',
      namesOf(whole.runs.flatMap(({ turns }) => turns.flatMap(({ calls }) => calls.map(({ tool }) => tool)))),
      ['again', 'helper', 'look', 'note', 'slow'],
    ],
    ['every via', namesOf(sendsOf(whole).map(({ via }) => via)), ['client', 'signal', 'update']],
    [
      'every fault',
      namesOf(itemsOf(whole).flatMap(({ fault }) => fault ?? [])),
      ['altered', 'digest', 'elsewhere', 'forged', 'misshapen', 'undecodable', 'unknown', 'unsigned'],
    ],
    ['every end', namesOf(whole.runs.map(({ end }) => end.kind)), ['cancel', 'itself', 'terminate']],
    [
      'every time',
      namesOf(sendsOf(whole).map(({ when }) => (when === 'settled' ? when : Object.keys(when)[0]!))),
      ['afterMs', 'beforeDeadlineMs', 'nested', 'settled'],
    ],
    [
      'every disturbance',
      namesOf(whole.disturbances.map(({ kind }) => kind)),
      ['kill_all_workers', 'kill_everything', 'kill_server', 'kill_worker', 'stop_all_workers', 'stop_worker'],
    ],
    ['every cache of workers', namesOf(whole.caches.map(String)), ['0', '1', 'null']],
    ['every sender', namesOf(sendsOf(whole).map(({ sender }) => String(sender))), ['0', '1', '2', '3']],
    [
      'undecodable bytes by signal and by update',
      namesOf(
        sendsOf(whole).flatMap(({ via, items }) => (items.some(({ fault }) => fault === 'undecodable') ? via : [])),
      ),
      ['signal', 'update'],
    ],
    ['nested runs', allRuns(whole.runs).length > whole.runs.length + 50, true],
    [
      'changes of policy above nested runs',
      whole.runs.some(({ turns }) =>
        turns.some(({ calls, changes }) => calls.some(({ nested }) => nested) && changes.length > 0),
      ),
      true,
    ],
    ['crowds as a nested run ends', whole.runs.some(({ turns }) => turns.some(({ sends }) => isCrowd(sends))), true],
    ['quorums', namesOf(panels.map(({ quorum }) => String(quorum))), ['1', '2', '3', 'undefined']],
    ['one of each', namesOf(panels.map(({ oneOfEach }) => String(oneOfEach))), ['', 'ann,bob', 'undefined']],
    ['votes with a veto and without', namesOf(panels.map(({ veto }) => String(veto))), ['false', 'true', 'undefined']],
    [
      'runs in which only signed decisions count, with votes and without',
      namesOf(panels.flatMap(({ verified, quorum }) => (verified ? String(quorum !== undefined) : []))),
      ['false', 'true'],
    ],
    [
      'every change of policy',
      namesOf(whole.runs.flatMap(({ turns }) => turns.flatMap(({ changes }) => changes.map(({ action }) => action)))),
      ['allow', 'ask', 'deny'],
    ],
    ['edited arguments', itemsOf(whole).some(({ edit }) => edit !== undefined), true],
    ["answers in the tool's place", itemsOf(whole).some(({ response }) => response !== undefined), true],
    ['batches', sendsOf(whole).some(({ items }) => items.length > 1), true],
    ['decisions without an id', itemsOf(whole).some(({ decisionId }) => decisionId === undefined), true],
    [
      'strays that make a run continue as new',
      whole.runs.some(({ turns }) => turns.some(({ strays }) => strays > 20)),
      true,
    ],
    ...(['extend', 'delegate', 'revoke'] as const).flatMap((kind): [string, unknown, unknown][] => [
      [`${kind} by every via`, namesOf(kindsOf(kind).map(({ via }) => via)), ['client', 'signal', 'update']],
      [`${kind} that comes again`, repeated(kindsOf(kind)) > 0, true],
      [`${kind} under the id of another`, misused(kindsOf(kind)) > 0, true],
      [`${kind} that is misshapen`, kindsOf(kind).some(({ fault }) => fault === 'misshapen'), true],
    ]),
    ...(['extend', 'delegate'] as const).flatMap((kind): [string, unknown, unknown][] => [
      [`${kind} of nothing`, kindsOf(kind).some(({ fault }) => fault === 'unknown'), true],
      [`${kind} of what is settled`, kindsOf(kind).some(({ when }) => when === 'settled'), true],
    ]),
    [
      'extensions at the very deadline, before it and after',
      namesOf(
        kindsOf('extend').flatMap(({ when }) =>
          typeof when === 'object' && 'beforeDeadlineMs' in when ? String(when.beforeDeadlineMs > 0) : [],
        ),
      ),
      ['false', 'true'],
    ],
    [
      'extensions beyond the ceiling',
      whole.runs.some(({ timeoutMs, turns }) =>
        turns.some(({ controls }) =>
          controls.some((each) => each.kind === 'extend' && timeoutMs + each.moreMs > longestWaitMs),
        ),
      ),
      true,
    ],
    ['extensions without an id', kindsOf('extend').some(({ messageId }) => messageId === undefined), true],
    ['delegates', namesOf(kindsOf('delegate').map(({ to }) => to)), ['ann', 'bob', 'dan', 'eve']],
    [
      'revocations of grants, of all and of none that there are',
      namesOf(kindsOf('revoke').flatMap(({ grants }) => grants)),
      ['all', 'grant-1', 'grant-2', 'grant-3', 'grant-99'],
    ],
    [
      'runs that name their reviewers',
      namesOf(whole.runs.map(({ reviewers }) => reviewers.join())),
      ['', 'ann,bob', 'ann,bob,dan'],
    ],
    [
      'every grant, and standing denials',
      namesOf(
        itemsOf(whole).flatMap(({ always, approved }) => {
          if (always === undefined) return [];
          const { kind, uses, expiresIn } = always === true ? { kind: 'tool' } : { uses: 0, expiresIn: '', ...always };
          const bounds = [uses ? 'counted' : [], expiresIn ? 'timed' : []].flat();
          return `${approved ? 'yes' : 'no'} ${kind} ${bounds.join(' ')}`.trim();
        }),
      ),
      ['no', 'yes'].flatMap((word) => [
        `${word} arguments`,
        `${word} arguments counted timed`,
        `${word} call`,
        ...(word === 'yes' ? [`${word} tool`] : []),
        `${word} tool counted`,
        `${word} tool timed`,
      ]),
    ],
  ])('%s', (_name, found, expected) => {
    expect(found).toEqual(expected);
  });

  test('model call ids repeat within a batch and in later turns', () => {
    const ids = (run: number): string[][] =>
      whole.runs[run]!.turns.map(({ calls }) => calls.map(({ modelCallId }) => modelCallId));
    const all = whole.runs.map((_, index) => ids(index));
    expect(all.some((turns) => turns.some((turn) => new Set(turn).size < turn.length))).toBe(true);
    expect(all.some(([first = [], second = []]) => first.some((id) => second.includes(id)))).toBe(true);
  });

  test('a repeated decision id carries the same decision', () => {
    const byId = new Map<string, string>();
    for (const item of itemsOf(whole)) {
      if (item.decisionId === undefined) continue;
      const text = JSON.stringify(item);
      expect(byId.get(item.decisionId) ?? text).toBe(text);
      byId.set(item.decisionId, text);
    }
  });
});

test('disturbances are in order, within the play, and use every kind before any repeats', () => {
  const shares = whole.disturbances.map(({ atShare }) => atShare);
  expect(shares).toEqual(shares.toSorted((one, other) => one - other));
  expect(shares.every((share) => share > 0 && share < 1)).toBe(true);
  const few = makeSchedule({ runs: 20, seed: 3 }).disturbances.map(({ kind }) => kind);
  expect(new Set(few).size).toBe(few.length);
});

test('every call writes a different text, so executions can be told apart', () => {
  const texts = allRuns(whole.runs).flatMap(({ turns }) => turns.flatMap(({ calls }) => calls.map(({ text }) => text)));
  expect(new Set(texts).size).toBe(texts.length);
});

test('the sender with a plain Temporal client never sends through the Countersign client', () => {
  expect(plainSender).toBe(senderCount - 1);
  for (const { via, sender } of [...sendsOf(whole), ...controlsOf(whole)]) {
    if (sender === plainSender) expect(via).not.toBe('client');
  }
});
