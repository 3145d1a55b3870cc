import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { agentTool } from '../../../src/agents/agent-tool.ts';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import type { Agent } from '../../../src/agents/definitions.ts';
import type { ApprovalDetails, Receipt } from '../../../src/contract.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { eventually, holds } from '../../support/eventually.ts';
import { promptScripted } from '../../support/prompt-scripted.ts';
import { openWorld, type RunInTest, type World, type WorldOptions } from '../../support/world.ts';

/** Two tools whose previews bind. `binds`: false for the version of `purge` before it did. */
export function boundAgents(folder: string, binds = true): Agent[] {
  const path = (name: string): string => join(folder, name);
  const read = (name: string): string => (existsSync(path(name)) ? readFileSync(path(name), 'utf8') : '');
  const note = (line: string): void => appendFileSync(path('ran.log'), `${line}\n`);
  const rowsOf = (name: string): number => Number(/^\d+/.exec(read(name))?.[0] ?? 0);
  /** The facts that count are the rows; the rest of the file is noise. */
  const purge = defineTool({
    name: 'purge',
    description: 'Deletes the rows of a table.',
    input: z.object({ table: z.string() }),
    ...(binds && { bind: 'preview' as const }),
    previewTimeoutMs: 2_000,
    preview: async ({ table }, { signal }) => {
      note(`preview ${table} ${rowsOf(table)}`);
      if (existsSync(path(`${table}.broken`))) throw new Error('the database is away');
      await holds(() => !existsSync(path(`${table}.hangs`)), signal);
      const rows = rowsOf(table);
      return { changes: [{ kind: 'text', name: table, before: read(table), after: '' }], facts: { rows } };
    },
    execute: ({ table }) => {
      const rows = rowsOf(table);
      note(`purge ${table} ${rows}`);
      writeFileSync(path(table), '0 rows');
      return `purged ${rows}`;
    },
  });
  /** All changes count. */
  const write = defineTool({
    name: 'write_file',
    description: 'Writes a file.',
    input: z.object({ name: z.string(), content: z.string() }),
    bind: 'preview',
    preview: ({ name, content }) => [{ kind: 'text', name, before: read(name) || null, after: content }],
    execute: ({ name, content }) => {
      note(`write ${name} ${content}`);
      writeFileSync(path(name), content);
      return `wrote ${name}`;
    },
  });
  const clerk = defineAgent({ name: 'clerk', instructions: 'Play.', model: promptScripted(), tools: [purge] });
  const tools = [purge, write, agentTool(clerk)];
  return [defineAgent({ name: 'tester', instructions: 'Play.', model: promptScripted(), tools })];
}

export interface BoundWorld extends World {
  /** A table that no other test uses. */
  newTable(content: string): string;
  set(name: string, content: string): void;
  /** What ran about a table, without previews. */
  ranAbout(table: string): string[];
  startPurge(table: string, policy?: object): Promise<RunInTest>;
}

export async function openBoundWorld(options: WorldOptions = {}): Promise<BoundWorld> {
  const world = await openWorld({ agentsIn: boundAgents, ...options });
  let tables = 0;
  const set = (name: string, content: string): void => writeFileSync(join(world.folder, name), content);
  return {
    ...world,
    newTable: (content) => {
      const table = `table-${++tables}`;
      set(table, content);
      return table;
    },
    set,
    ranAbout: (table) => world.ran().filter((line) => line.split(' ')[1] === table && !line.startsWith('preview ')),
    startPurge: (table, policy) => {
      const turns = [{ calls: [{ tool: 'purge', args: { table } }] }, { text: '{{lastResult}}' }];
      return world.start(turns, { policy: policy as never });
    },
  };
}

export const details = (run: RunInTest, requestId: string): Promise<ApprovalDetails> =>
  run.handle.query('approvals', { requestId });
export const decide = (run: RunInTest, decision: JsonObject): Promise<Receipt> =>
  run.handle.executeUpdate<Receipt, [unknown]>('decide', { args: [decision] });
export const approve = (run: RunInTest, { requestId }: ApprovalDetails, more: JsonObject = {}): Promise<Receipt> =>
  decide(run, { requestId, approved: true, ...more });

/** The open request, other than `after`. */
export async function opened(run: RunInTest, after?: ApprovalDetails): Promise<ApprovalDetails> {
  const request = await eventually('another request', async () => {
    const open = await run.open();
    return open.find(({ requestId }) => requestId !== after?.requestId);
  });
  return details(run, request.requestId);
}

/** The same, once its preview is finished. */
export async function previewed(run: RunInTest, after?: ApprovalDetails): Promise<ApprovalDetails> {
  const { requestId } = await opened(run, after);
  return eventually('its preview is finished', async () => {
    const shown = await details(run, requestId);
    return shown.preview?.state !== 'pending' && shown;
  });
}
