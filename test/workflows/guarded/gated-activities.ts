import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { Context } from '@temporalio/activity';
import { holds } from '../../support/eventually.ts';

/** Plain activities. Each execution writes one line into `FOLDER/ran.log`. */
export function gatedTestActivities(folder: string) {
  const note = (line: string): void => appendFileSync(join(folder, 'ran.log'), `${line}\n`);
  return {
    look: async (...what: unknown[]): Promise<unknown[]> => {
      note(`look ${JSON.stringify(what)}`);
      return what;
    },
    pay: async (to: string, amount = 5): Promise<string> => {
      note(`pay ${to} ${amount}`);
      return `paid ${amount} to ${to}`;
    },
    order: async ({ item }: { item: string }): Promise<string> => {
      note(`order ${item}`);
      return `ordered ${item}`;
    },
    shell: async (command: string): Promise<string> => {
      note(`shell ${command}`);
      return command;
    },
    fail: async (): Promise<void> => {
      note('fail');
      throw new RangeError('the bank is closed');
    },
    /** Returns a number that JSON does not have. */
    countsAtoms: async (): Promise<unknown> => {
      note('countsAtoms');
      return 10n ** 80n;
    },
    /** Returns what can be written once only. */
    paysOnce: async (): Promise<unknown> => {
      note('paysOnce');
      let reads = 0;
      return {
        get paid(): number {
          if (++reads > 1) throw new Error('gone');
          return 1;
        },
      };
    },
    /** Returns more lists in lists than a payload may have. */
    nests: async (): Promise<unknown> => {
      note('nests');
      return JSON.parse(`${'['.repeat(2_000)}${']'.repeat(2_000)}`) as unknown;
    },
    failsOnce: async (): Promise<string> => {
      const { attempt } = Context.current().info;
      note(`failsOnce ${attempt}`);
      if (attempt === 1) throw new RangeError('the bank is closed');
      return 'paid';
    },
    hang: async (name: string): Promise<string> => {
      note(`hang ${name}`);
      const { cancellationSignal: signal } = Context.current();
      await holds(() => existsSync(join(folder, `release-${name}`)), signal);
      return name;
    },
    /** Not gated. */
    linger: async (name: string): Promise<void> =>
      holds(() => existsSync(join(folder, `release-${name}`)), Context.current().cancellationSignal),
    free: async (what: unknown): Promise<unknown> => {
      note('free');
      return what;
    },
  };
}

export type GatedTestActivities = ReturnType<typeof gatedTestActivities>;
