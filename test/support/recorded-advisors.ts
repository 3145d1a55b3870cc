/** Recorded runs whose calls go to an advisor first. Each call says in its arguments what the advisor answers. */
import type { AdvisorAnswer } from '../../src/agents/advisor.ts';
import type { JsonObject } from '../../src/core/base/tool-call.ts';
import { finished, once, yes, type RecordedRun } from './play-runs.ts';
import type { WorldOptions } from './world.ts';

const advisor = { name: 'triage', may_approve: true };
const policy: JsonObject = { rules: [{ id: 'advised', pattern: '*', action: 'ask', ask: { advisor } }] };
const worldOf = (historyEvents: number): WorldOptions => ({
  continueAsNewAfter: { historyEvents },
  advisors: { triage: ({ args }) => args['answer'] as unknown as AdvisorAnswer },
});
const echo = (answer: object) => ({ tool: 'echo', args: { answer } });
const calls = [
  echo({ answer: 'approve', reason: 'Fine.' }),
  echo({ answer: 'deny', reason: 'No.' }),
  echo({ answer: 'ask', severity: 'critical', reason: 'Look twice.' }),
  echo({ answer: 'always' }),
];

const ofAdvised = (name: string, historyEvents: number): RecordedRun => ({
  name,
  world: worldOf(historyEvents),
  play: async (world) => {
    const run = await world.start(once(...calls), { policy });
    for (const request of await run.open(2)) await run.handle.signal('decide', yes(request));
    return finished(run);
  },
});

export const recordedAdvisors: RecordedRun[] = [
  ofAdvised('advised', 8_000),
  ofAdvised('advised-in-second-execution', 20),
];
