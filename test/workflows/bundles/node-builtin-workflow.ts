import { readFileSync } from 'node:fs';

/** Uses a Node built-in, which no workflow may do: the bundler must refuse it. */
export async function agentRun(): Promise<string> {
  return readFileSync('/etc/hostname', 'utf8');
}
