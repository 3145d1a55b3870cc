import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Agent } from '../../../src/agents/definitions.ts';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import type { ToolOptions } from '../../../src/agents/define-tool.ts';
import type { ToolContext } from '../../../src/agents/definitions.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import { holds } from '../../support/eventually.ts';
import { secondsInTime } from '../../support/in-time.ts';
import { promptScripted } from '../../support/prompt-scripted.ts';

const input = z.object({ name: z.string() });
type Options = Partial<ToolOptions<typeof input>>;

/**
 * An agent whose tools run until a test writes `FOLDER/release-NAME`, or `FOLDER/break-NAME` to make them fail. Each
 * start, and each cancellation that a tool handles, adds a line to `FOLDER/ran.log`.
 */
export function operatorAgent(folder: string): Agent {
  const note = (line: string): void => appendFileSync(join(folder, 'ran.log'), `${line}\n`);
  const hold = async (name: string, signal?: AbortSignal): Promise<string> => {
    note(`start ${name}`);
    signal?.addEventListener('abort', () => note(`stop ${name}`));
    await holds(() => {
      const isReleased = existsSync(join(folder, `release-${name}`));
      if (!isReleased && existsSync(join(folder, `break-${name}`))) throw new Error('the bank is closed');
      return isReleased;
    }, signal);
    return `held ${name}`;
  };
  const tool = (toolName: string, options: Options, stops: boolean) =>
    defineTool({
      name: toolName,
      description: 'Runs until it is released.',
      input,
      heartbeat: { timeoutMs: 5_000 },
      ...options,
      execute: ({ name }, { signal }: ToolContext) => hold(name, stops ? signal : undefined),
    });
  const tools = [
    tool('hold', {}, true),
    tool('hold_again', { idempotent: true }, true),
    tool('hold_look', { risk: 'read_only' }, true),
    // Ignores cancellation.
    tool('hold_on', {}, false),
    // Send no heartbeats; only the start-to-close timeout detects a lost worker. Until then, an operator enters commands.
    ...secondsInTime(8).map((seconds) =>
      tool(`hold_silent_${seconds}`, { heartbeat: false, timeoutMs: seconds * 1_000 }, false),
    ),
  ];
  return defineAgent({ name: 'tester', instructions: 'Play your script.', model: promptScripted(), tools });
}
