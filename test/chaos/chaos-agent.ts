import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Agent } from '../../src/agents/definitions.ts';
import { agentTool } from '../../src/agents/agent-tool.ts';
import { defineAgent } from '../../src/agents/define-agent.ts';
import type { ToolContext } from '../../src/agents/definitions.ts';
import { defineTool } from '../../src/agents/define-tool.ts';
import { promptScripted } from '../support/prompt-scripted.ts';

/** One actual execution of a tool. */
export interface RanLine {
  tool: string;
  workflowId: string;
  callId: string;
  text: string;
}

const slowMs = 600;
const input = z.object({ text: z.string() });

/**
 * Each tool appends a line to `FOLDER/ran.jsonl` whenever it runs, so executions are counted outside the run and
 * survive any kill. The tool `helper` is an agent with the same tools.
 */
export function chaosAgent(folder: string): Agent {
  const tool = (name: string, execute: (context: ToolContext) => Promise<void>, more: object = {}) =>
    defineTool({
      name,
      description: `Writes a text down (${name}).`,
      input,
      heartbeat: { timeoutMs: 1_500 },
      ...more,
      execute: async ({ text }, context) => {
        const line: RanLine = { tool: name, workflowId: context.workflowId, callId: context.callId, text };
        appendFileSync(ranFile(folder), `${JSON.stringify(line)}\n`);
        await execute(context);
        return `wrote ${text}`;
      },
    });
  const slowly = async ({ signal }: ToolContext): Promise<void> => sleep(slowMs, undefined, { signal });
  const tools = [
    tool('note', async () => undefined),
    tool('slow', slowly),
    tool('again', slowly, { idempotent: true }),
    tool('look', async () => undefined, { risk: 'read_only' }),
  ];
  const instructions = 'Play your script.';
  const helper = defineAgent({ name: 'helper', instructions, model: promptScripted(), tools });
  return defineAgent({ name: 'chaos', instructions, model: promptScripted(), tools: [...tools, agentTool(helper)] });
}

export function readRanLines(folder: string): RanLine[] {
  if (!existsSync(ranFile(folder))) return [];
  const lines = readFileSync(ranFile(folder), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as RanLine);
}

function ranFile(folder: string): string {
  return join(folder, 'ran.jsonl');
}
