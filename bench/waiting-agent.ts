import { appendFileSync } from 'node:fs';
import { z } from 'zod';
import { defineAgent } from '../src/agents/define-agent.ts';
import type { Agent } from '../src/agents/definitions.ts';
import { defineTool } from '../src/agents/define-tool.ts';
import { scriptedModel } from '../src/models/scripted.ts';

/** The input of a run: 2 kB, like the transcript of a few turns. */
export const waitingInput = 'Pay the invoice. '.repeat(120);

/** An agent that requests one payment. Each executed payment adds a line to `ranFile`. */
export function benchAgent(ranFile?: string): Agent {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays money.',
    input: z.object({ to: z.string(), amount: z.number() }),
    execute: ({ to, amount }, { workflowId }) => {
      if (ranFile !== undefined) appendFileSync(ranFile, `${workflowId}\n`);
      return `paid ${amount} to ${to}`;
    },
  });
  const turns = [{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 1 } }] }, { text: 'done' }];
  return defineAgent({
    name: 'bench',
    instructions: 'Play your script.',
    model: scriptedModel({ default: turns }),
    tools: [pay],
  });
}
