import type { Gated } from '../../../src/workflow.ts';
import type { GatedTestActivities } from './gated-activities.ts';

export const gated = {
  look: { risk: 'read_only' },
  pay: { arguments: ['to', 'amount'], subject: 'to' },
  order: { show: ['item'] },
  shell: { arguments: ['command'], subject: { argument: 'command', shell: true } },
  fail: {},
  countsAtoms: {},
  paysOnce: {},
  nests: {},
  failsOnce: { risk: 'destructive' },
  hang: { heartbeat: { timeoutMs: 6_000 } },
} satisfies Gated<GatedTestActivities>;
