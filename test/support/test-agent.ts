import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { defineAgent } from '../../src/agents/define-agent.ts';
import { defineTool } from '../../src/agents/define-tool.ts';
import { holds } from './eventually.ts';
import { promptScripted } from './prompt-scripted.ts';

/**
 * An agent whose script is its first user message: a JSON list of turns. Each tool execution writes one line into
 * `FOLDER/ran.log`, so that tests can count them. A process that is busy for longer than the heartbeat time-out loses the
 * calls of `hold`: at six seconds, a test of a lost worker is still short; where none is lost, a longer one is safer.
 */
export function testAgent(folder: string, policy?: object, { heartbeatTimeoutMs = 6_000 } = {}) {
  const note = (line: string): void => appendFileSync(join(folder, 'ran.log'), `${line}\n`);
  const waitFor = (file: string, signal: AbortSignal): Promise<void> =>
    holds(() => existsSync(join(folder, file)), signal);
  const held = async (name: string, signal: AbortSignal): Promise<string> => {
    note(`start ${name}`);
    await waitFor(`release-${name}`, signal);
    note(`end ${name}`);
    return `held ${name}`;
  };
  const hold = z.object({ name: z.string() });
  const tools = [
    defineTool({
      name: 'look',
      description: 'Looks at something.',
      input: z.object({ what: z.string() }),
      risk: 'read_only',
      execute: ({ what }) => {
        note(`look ${what}`);
        return `saw ${what}`;
      },
    }),
    defineTool({
      name: 'pay',
      description: 'Pays money.',
      input: z.object({ to: z.string(), amount: z.number() }),
      subject: 'to',
      execute: ({ to, amount }) => {
        note(`pay ${to} ${amount}`);
        return `paid ${amount} to ${to}`;
      },
    }),
    defineTool({
      name: 'wipe',
      description: 'Deletes everything.',
      input: z.object({}),
      risk: 'destructive',
      execute: () => {
        note('wipe');
        return 'wiped';
      },
    }),
    defineTool({
      name: 'echo',
      description: 'Returns its arguments.',
      input: z.looseObject({}),
      execute: (args) => args,
    }),
    defineTool({
      name: 'bash',
      description: 'Says that it ran a command.',
      input: z.object({
        command: z.string(),
        env: z.record(z.string(), z.string()).optional(),
        note: z.string().optional(),
      }),
      subject: { argument: 'command', shell: true, beside: ['note'] },
      execute: ({ command }) => {
        note(`bash ${command}`);
        return `ran ${command}`;
      },
    }),
    defineTool({
      name: 'fail',
      description: 'Fails.',
      input: z.object({}),
      risk: 'write',
      execute: () => {
        note('fail');
        throw new Error('the bank is closed');
      },
    }),
    defineTool({
      name: 'hold',
      description: 'Runs until it is released.',
      input: hold,
      heartbeat: { timeoutMs: heartbeatTimeoutMs },
      execute: ({ name }, { signal }) => held(name, signal),
    }),
    defineTool({
      name: 'hold_again',
      description: 'Runs until it is released; may be repeated.',
      input: hold,
      idempotent: true,
      heartbeat: { timeoutMs: heartbeatTimeoutMs },
      execute: ({ name }, { signal }) => held(name, signal),
    }),
  ];
  return defineAgent({
    name: 'tester',
    instructions: 'Play your script.',
    model: promptScripted(),
    tools,
    ...(policy === undefined ? {} : { policy }),
  });
}

/** The lines that the tools wrote, one for each execution. */
export function ranLines(folder: string): string[] {
  const file = join(folder, 'ran.log');
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
}
