import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runChaos } from '../../chaos/chaos.ts';
import { makeSchedule } from '../../chaos/make-schedule.ts';
import { summaryOf } from '../../chaos/summary.ts';
import { testBundle } from '../../support/world.ts';

/**
 * The short version of `npm run chaos`: kills workers and its own server under runs with many requests, and replays
 * every history.
 */

const folder = mkdtempSync(join(tmpdir(), 'countersign-chaos-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('whatever is killed, each request has one outcome, and each approved call ran once', async () => {
  // This seed plans enough of each: every kind of control at least six times, and nine nested runs.
  const schedule = makeSchedule({ runs: 8, seed: 54 });
  const outcome = await runChaos(schedule, { folder, bundlePath: testBundle() });
  const { violations, crashes, disturbances } = outcome;
  expect(violations).toEqual([]);
  expect(crashes).toEqual([]);
  // The test is meaningful only if all of this happened.
  const { nested, requests, continued, outcomes, endings, controls, journaled, verified, answers } = summaryOf(outcome);
  expect(disturbances).toBe(schedule.disturbances.length);
  expect(nested).toBeGreaterThan(0);
  expect(verified).toBeGreaterThan(0);
  expect(requests).toBeGreaterThanOrEqual(40);
  expect(continued).toBeGreaterThan(0);
  expect(Object.keys(outcomes)).toEqual(expect.arrayContaining(['allowed', 'approved', 'denied', 'expired']));
  for (const kind of ['extend', 'delegate', 'revoke']) expect(Object.keys(controls[kind]!)).not.toEqual([]);
  // In so few runs each delegation may come after its request was settled.
  expect(Object.keys(journaled)).toContain('vote');
  const refused = ['already_settled', 'invalid_decision', 'undecodable', 'unknown_request'];
  expect(Object.keys(answers)).toEqual(expect.arrayContaining(refused));
  expect(Object.keys(endings)).toEqual(expect.arrayContaining(['COMPLETED']));
}, 900_000);
