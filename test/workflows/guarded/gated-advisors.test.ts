import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Advisor, AdvisorAnswer } from '../../../src/agents/advisor.ts';
import { evidenceOf } from '../../../src/client/audit/evidence-of.ts';
import { verifyEvidence } from '../../../src/audit/verify-evidence.ts';
import { readExecutions } from '../../support/read-histories.ts';
import { openGatedWorld, type GatedWorld } from '../../support/gated-world.ts';

/** In a workflow of one's own: the advisors of the policies are consulted about its gated activities, too. */

const triage: Advisor = ({ args }) => Object.values(args)[0] as unknown as AdvisorAnswer;
let world: GatedWorld;
beforeAll(async () => {
  const advisor = { name: 'triage', may_approve: true };
  world = await openGatedWorld({
    advisors: { triage },
    policy: { rules: [{ pattern: 'look', action: 'ask', ask: { advisor } }] },
  });
});
afterAll(() => world.close());

const look = (answer: AdvisorAnswer, ...more: unknown[]) => ({ name: 'look', args: [answer, ...more] });

test('it approves, denies, and leaves the rest to reviewers; calls side by side keep their own ids', async () => {
  const answers = ['approve', 'approve', 'deny', 'ask'] as const;
  const steps = answers.map((answer, index) => look({ answer, reason: `by ${answer}` }, index));
  const handle = await world.start('calls', steps);
  const [request] = await world.open(handle);
  expect(request!.advice).toEqual([{ advisor: 'triage', answer: 'ask', reason: 'by ask' }]);
  await world.client.decide({ requestId: request!.requestId, approved: true });
  const ends = JSON.stringify(await handle.result());
  expect(ends).toContain('Advisor triage denies this call: by deny');
  expect(world.ran()).toHaveLength(3);
  const { executions } = await world.client.historyChain(handle.workflowId);
  const { entries, evidence } = evidenceOf(readExecutions(executions));
  const ids = entries.flatMap(({ kind, callId }) => (kind === 'ruling' || kind === 'opened' ? [callId] : []));
  expect(new Set(ids).size).toBe(4);
  expect(verifyEvidence(entries, evidence)).toMatchObject({ differing: [] });
});
