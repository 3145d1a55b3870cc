import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import { type Agent, UnknownOutcomeError } from '../../../src/agents/definitions.ts';
import { holds } from '../../support/eventually.ts';
import { promptScripted } from '../../support/prompt-scripted.ts';

const input = z.object({ name: z.string(), how: z.enum(['hangs', 'breaks']) });
export type PayArgs = z.infer<typeof input>;

/** A bank that keeps payments by idempotency key, and a connection to it that breaks. */
export function reconcilingAgents(folder: string): Agent[] {
  const path = (name: string): string => join(folder, name);
  const note = (line: string): void => appendFileSync(path('ran.log'), `${line}\n`);
  const bank = (): Record<string, string> =>
    existsSync(path('bank.json'))
      ? (JSON.parse(readFileSync(path('bank.json'), 'utf8')) as Record<string, string>)
      : {};
  const pay = (key: string, name: string): void =>
    writeFileSync(path('bank.json'), JSON.stringify({ ...bank(), [key]: `paid ${name}` }));
  const isSet = (name: string, what: string): boolean => existsSync(path(`${name}.${what}`));

  async function execute(
    { name, how }: PayArgs,
    { signal, idempotencyKey }: { signal: AbortSignal; idempotencyKey: string },
  ) {
    note(`start ${name} ${idempotencyKey}`);
    if (!isSet(name, 'early')) pay(idempotencyKey, name);
    if (isSet(name, 'works')) return `paid ${name}`;
    if (how === 'breaks') throw new UnknownOutcomeError('the bank did not answer');
    await holds(() => false, signal);
    return '';
  }
  const tool = (name: string, more: object = {}) =>
    defineTool({ name, description: 'Pays.', input, execute, heartbeat: { timeoutMs: 1_000 }, ...more });
  const reconcile = ({ name }: PayArgs, { idempotencyKey }: { idempotencyKey: string }) => {
    note(`look ${name} ${idempotencyKey}`);
    if (isSet(name, 'away')) throw new Error('the bank is away');
    if (isSet(name, 'silent')) return { ran: 'unknown' as const };
    const result = bank()[idempotencyKey];
    if (result !== undefined) return isSet(name, 'quiet') ? { ran: 'yes' as const } : { ran: 'yes' as const, result };
    if (isSet(name, 'shifts')) writeFileSync(path(`${name}.changed`), '');
    if (!isSet(name, 'never')) writeFileSync(path(`${name}.works`), '');
    return { ran: 'no' as const };
  };
  const tools = [
    tool('pay', { reconcile }),
    tool('plain'),
    tool('odd', { reconcile: () => 'yes' }),
    tool('checked', { reconcile, checkResult: () => 'it names a customer' }),
    tool('bound', {
      reconcile,
      bind: 'preview',
      preview: ({ name }: PayArgs) => [{ kind: 'text', name, before: isSet(name, 'changed') ? 'b' : 'a', after: null }],
    }),
  ];
  return [defineAgent({ name: 'tester', instructions: 'Play.', model: promptScripted(), tools })];
}
