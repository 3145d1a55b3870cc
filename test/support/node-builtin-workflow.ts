import { readFileSync } from 'node:fs';

/** What no workflow may do: the bundler must refuse it. */
export async function agentRun(): Promise<string> {
  return readFileSync('/etc/hostname', 'utf8');
}
