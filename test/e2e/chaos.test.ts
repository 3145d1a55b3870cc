import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { runChaos } from '../chaos/chaos.ts';
import { makeSchedule } from '../chaos/make-schedule.ts';
import { summaryOf } from '../chaos/summary.ts';
import { testBundle } from '../support/world.ts';

/** The short version of `npm run chaos`: workers and a server of its own are killed under runs with much to decide. */

const folder = mkdtempSync(join(tmpdir(), 'countersign-chaos-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('whatever is killed, each request has one outcome, and what was approved ran once', async () => {
  const schedule = makeSchedule({ runs: 16, seed: 9 });
  const outcome = await runChaos(schedule, { folder, bundlePath: testBundle() });
  const { violations, crashes, disturbances } = outcome;
  expect(violations).toEqual([]);
  expect(crashes).toEqual([]);
  // What must have happened for this test to say anything.
  const { requests, continued, outcomes, endings, controls, journaled } = summaryOf(outcome);
  expect(disturbances).toBe(schedule.disturbances.length);
  expect(requests).toBeGreaterThanOrEqual(75);
  expect(continued).toBeGreaterThan(0);
  expect(Object.keys(outcomes)).toEqual(expect.arrayContaining(['allowed', 'approved', 'denied', 'expired']));
  for (const kind of ['extend', 'delegate', 'revoke']) expect(Object.keys(controls[kind]!)).not.toEqual([]);
  expect(Object.keys(journaled)).toEqual(expect.arrayContaining(['delegated']));
  expect(Object.keys(endings)).toEqual(expect.arrayContaining(['COMPLETED']));
}, 300_000);
