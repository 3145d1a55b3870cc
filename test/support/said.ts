import type { Message } from '../../src/contract.ts';
import type { RunInTest } from './world.ts';

/** The transcript of a run without its first message, the script: one line for each message. */
export async function said(run: RunInTest): Promise<string[]> {
  const messages = await run.handle.query<Message[]>('transcript');
  return messages.slice(1).map(({ role, content }) => `${role}: ${content}`);
}
