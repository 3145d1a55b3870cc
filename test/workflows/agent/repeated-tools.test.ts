import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { promptScripted } from '../../support/prompt-scripted.ts';
import { openWorld } from '../../support/world.ts';

/** Which tools have more than one attempt (I7), and that the page for operators says so. */

const kinds = {
  reads: { risk: 'read_only' },
  writes: { risk: 'write' },
  writes_again: { risk: 'write', idempotent: true },
} as const;

const world = forAllTests(() =>
  openWorld({
    policy: { version: 1, rules: [{ pattern: '*', action: 'allow' }] },
    agentsIn: (folder) => [
      defineAgent({
        name: 'tester',
        instructions: 'Play your script.',
        model: promptScripted(),
        tools: Object.entries(kinds).map(([name, kind]) =>
          defineTool({
            name,
            description: 'Fails.',
            input: z.object({}),
            ...kind,
            execute: () => {
              appendFileSync(join(folder, 'ran.log'), `${name}\n`);
              throw new Error('not now');
            },
          }),
        ),
      }),
    ],
  }),
);

test('a tool that only reads, or is idempotent, has three attempts; any other has one', async () => {
  const calls = Object.keys(kinds).map((tool) => ({ tool, args: {} }));
  await (await world.start([{ calls }, { text: 'done' }])).result();
  const attempts = Object.keys(kinds).map((name) => world.ran().filter((line) => line === name).length);
  expect(attempts).toEqual([3, 1, 3]);
  const page = readFileSync(fileURLToPath(new URL('../../../docs/operations.md', import.meta.url)), 'utf8');
  expect(page.replaceAll('\n', ' ')).toContain(
    `is not repeated, unless it only reads (\`risk: 'read_only'\`) or is declared idempotent: these have up to three attempts`,
  );
});
