/** Policy sections 2 to 4, written a second time to be compared with `evaluate`: slow, short, plain. No commands. */
import { defaultAssessment } from '../../src/core/assessment.ts';
import { colour } from '../../src/core/modes.ts';
import type { Action, Policy, PolicyLayers, Rule } from '../../src/core/policy.ts';
import type { RuledCall } from '../../src/core/ruling.ts';
import { conditions } from './generate.ts';

/** The action for one call, where patterns hold no other wildcard than `*`. */
export function referenceAction({ ceiling, parents = [], run }: PolicyLayers, call: RuledCall, agent: string): Action {
  const policies = [ceiling, ...parents, run].filter((policy) => policy !== undefined);
  return strictest(policies.length === 0 ? [riskDefault({}, call)] : policies.map((each) => layer(each, call, agent)));
}
function layer({ rules, riskDefaults, mode = 'default' }: Policy, call: RuledCall, agent: string): Action {
  const facts = { ...defaultAssessment(call.risk), risk: call.risk };
  const paint = (by: Action | 'none', action: Action) => (by === 'deny' ? by : colour(mode, by, action, facts).action);
  const matched = rules.filter((rule) => matches(rule, call, agent) === true).map(({ action }) => action);
  const last = matched.at(-1);
  const own = last === undefined ? paint('none', riskDefault(riskDefaults, call)) : paint(last, last);
  if (!rules.some((rule) => matches(rule, call, agent) === undefined)) return own;
  return strictest([own, 'ask', paint('ask', 'ask'), ...matched.filter((action) => action === 'deny')]);
}
const strictest = (actions: Action[]): Action =>
  (['deny', 'ask', 'allow'] as const).find((each) => actions.includes(each))!;
function riskDefault(written: Policy['riskDefaults'], { risk }: RuledCall): Action {
  if (risk === 'unknown') return 'ask';
  return written[risk] ?? ({ read_only: 'allow', write: 'ask', destructive: 'deny' } as const)[risk];
}
function matches(
  { pattern, args: globs = {}, when, agent: own = '' }: Rule,
  call: RuledCall,
  agent: string,
): boolean | undefined {
  const [name, ...rest] = pattern.split(':');
  const whole = Object.fromEntries(Object.entries(call.args).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  const field = (key: string): unknown => (Object.hasOwn(call.args, key) ? call.args[key] : undefined);
  const all: (boolean | undefined)[] = [own === '' || own === agent, glob(name!, call.tool)];
  if (rest.length > 0) all.push(glob(rest.join(':'), call.subject === undefined ? whole : field(call.subject)));
  for (const [key, text] of Object.entries(globs)) all.push(glob(text, field(key)));
  if (when !== undefined) all.push(conditions[when]!(call, agent));
  return all.includes(false) ? false : all.includes(undefined) ? undefined : true;
}
function glob(pattern: string, value: unknown): boolean | undefined {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[^a-z0-9]/g, '\\$&'));
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return value === undefined ? undefined : new RegExp(`^${parts.join('[^]*')}$`).test(text);
}
