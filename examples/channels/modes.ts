/**
 * Modes decide for a whole run, and need no channel: `approve_all`, `reject_all`, `headless` and `interactive`. They are data
 * in the run, so a program and the command line give the same. No mode loosens the operator's ceiling.
 *
 *   countersign worker examples/channels/modes.ts
 *   countersign run shop --input 'My lamp came broken' --mode headless
 *   node examples/channels/modes.ts headless
 *
 */
import { type CountersignClient, createClient, type RunInput } from 'countersign/client';
import { policy, shop } from './shop.ts';

type Mode = RunInput['mode'];

/** Starts a run that asks about everything that the policy names, unless the mode says otherwise. */
export async function runIn(client: CountersignClient, mode: Mode) {
  return client.start('shop', 'My lamp came broken', { mode, policy });
}

/** Without a policy of the operator, so that a run may be as loose as it says. */
export default { agents: [shop] };

if (process.argv[1] === import.meta.filename) {
  const client = await createClient();
  const run = await runIn(client, (process.argv[2] ?? 'interactive') as Mode);
  const { outcomes } = await run.result();
  for (const { toolName, outcome } of outcomes) console.log(`${toolName}: ${outcome}`);
  await client.close();
}
