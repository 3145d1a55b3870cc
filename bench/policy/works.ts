/**
 * The same work for every engine: 1,000 rules in order. The last matching rule decides; without one the answer is ask.
 */
import type { Action } from '../../src/core/policy/modes.ts';
import type { RuledCall } from '../../src/core/policy/ruling.ts';
import type { JsonObject } from '../../src/core/base/tool-call.ts';

export interface Rule {
  /** Pattern for the tool; `*` matches any characters, here and in `text`. */
  name: string;
  /** Pattern for the subject, or for the JSON of all arguments. */
  text?: string;
  /** The argument that must be a number greater than `amount`. */
  over?: { field: string; amount: number };
  action: Action;
}

export interface Work {
  name: string;
  rules: Rule[];
  /** Calls whose rulings are timed. */
  timed: RuledCall[];
  /** Further calls on which all engines must agree. */
  checked: RuledCall[];
}

const actions = ['allow', 'ask', 'deny'] as const;

const call = (tool: string, args: JsonObject, subject?: string): RuledCall => ({
  tool,
  args,
  risk: 'write',
  ...(subject !== undefined && { subject }),
});
const listOf = <Item>(length: number, make: (index: number) => Item): Item[] =>
  Array.from({ length }, (_, index) => make(index));
const rules = (make: (index: number) => Omit<Rule, 'action'>): Rule[] =>
  listOf(1_000, (index) => ({ ...make(index), action: actions[index % 3]! }));

// Fields are in the order of canonical JSON, so that every engine sees the same text.
const command = (text: string): RuledCall => call('bash', { command: text }, 'command');
const onTool = (index: number): RuledCall => call(`tool_${index}_x`, { force: true, path: `/srv/app/${index}` });
const update = (id: string): RuledCall => call('update', { id, name: 'Ann', tags: ['a', 'b'] });
const pay = (tool: number, amount: number): RuledCall => call(`pay_${tool}`, { amount, to: 'acme' });

export const works: Work[] = [
  {
    name: '1,000 rules over 200 tools',
    rules: rules((index) =>
      index % 5 === 0 ? { name: `tool_${index % 200}_*` } : { name: `tool_${index % 200}_x`, text: `*${index}*` },
    ),
    timed: [7, 60, 199].map(onTool),
    checked: listOf(210, onTool),
  },
  {
    name: '1,000 rules for one tool, by its subject',
    rules: rules((index) => ({ name: 'bash', text: `git ${index} *` })),
    timed: ['git 500 --all', 'rm -rf /', 'git status'].map(command),
    checked: listOf(200, (index) => command(`git ${index * 5} a/b`)),
  },
  {
    name: '1,000 rules for any tool, by all arguments',
    rules: rules((index) => ({ name: '*', text: `*"id":"${index}"*` })),
    timed: [update('999'), update('x')],
    checked: listOf(200, (index) => update(String(index * 5))),
  },
  {
    name: '1,000 rules, a condition in each tenth',
    rules: rules((index) => ({
      name: `pay_${index % 50}`,
      ...(index % 10 === 0 && { over: { field: 'amount', amount: index } }),
    })),
    timed: [pay(10, 500), pay(11, 5)],
    checked: listOf(200, (index) => pay(index % 52, index * 7)),
  },
];

/** The text that `text` globs are matched against. */
export function textOf({ args, subject }: RuledCall): string {
  return subject === undefined ? JSON.stringify(args) : (args[subject] as string);
}
