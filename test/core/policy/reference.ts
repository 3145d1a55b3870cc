/** The rules of docs/policy-reference.md written a second time, to compare `evaluate` with: slow, short, plain. */
import { defaultAssessment } from '../../../src/core/assess/assessment.ts';
import { applyMode, type Action } from '../../../src/core/policy/modes.ts';
import type { Policy, PolicyLayers, Rule } from '../../../src/core/policy/policy.ts';
import type { RuledCall } from '../../../src/core/policy/ruling.ts';
import { conditions } from '../generate.ts';

const unwritten = { read_only: 'allow', write: 'ask', destructive: 'deny', unknown: 'ask' } as const;
const strictest = (all: Action[]): Action => (['deny', 'ask', 'allow'] as const).find((each) => all.includes(each))!;

/** The action for one call, if patterns use no wildcard except `*`, and a command is nothing but words. */
export function referenceAction({ ceiling, parents = [], run }: PolicyLayers, call: RuledCall, agent: string): Action {
  const written = [ceiling, ...parents, run].filter((policy) => policy !== undefined);
  return written.length === 0 ? unwritten[call.risk] : strictest(written.map((each) => layer(each, call, agent)));
}
function layer({ rules, riskDefaults, mode = 'default' }: Policy, call: RuledCall, agent: string): Action {
  const facts = { ...defaultAssessment(call.risk), risk: call.risk };
  const paint = (by: 'allow' | 'ask' | 'none', action: Action): Action => applyMode(mode, by, action, facts).action;
  const matched = rules.filter((rule) => matches(rule, call, agent) === true);
  const last = matched.findLast((rule) => isWhole(rule, call))?.action;
  const isOpen = call.shell === undefined || mode === 'bypassPermissions' || mode === 'auto_approve';
  const own = last === 'deny' ? last : paint(last ?? 'none', last ?? { ...unwritten, ...riskDefaults }[call.risk]);
  const all = last === undefined && !isOpen ? [own, 'ask' as const] : [own];
  const counting = rules.filter((rule) => matches(rule, call, agent) ?? !isWhole(rule, call));
  if (counting.slice(-1).some((rule) => !isWhole(rule, call))) all.push(paint('ask', 'ask'));
  const failed = rules.filter((rule) => matches(rule, call, agent) === undefined).map(({ action }) => action);
  if (failed.length === 0) return strictest(all);
  const denied = [...matched.map(({ action }) => action), ...failed].filter((action) => action === 'deny');
  const asked = failed.includes('ask') ? ['ask' as const, paint('ask', 'ask')] : [];
  return strictest([...all, ...asked, ...denied]);
}
/** False if a rule allows a command, but not every argument beside it. */
function isWhole({ action, pattern, args = {} }: Rule, call: RuledCall): boolean {
  const known = [call.subject!, ...(call.beside ?? []), ...Object.keys(args)];
  const isOfCommand = pattern.includes(':') || Object.hasOwn(args, call.subject!);
  if (call.shell === undefined || action !== 'allow' || !isOfCommand) return true;
  return Object.keys(call.args).every((name) => known.includes(name));
}
function matches(rule: Rule, call: RuledCall, agent: string): boolean | undefined {
  const [name, ...rest] = rule.pattern.split(':');
  const sorted = Object.entries(call.args).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const whole: Record<string, unknown> = Object.assign(Object.create(null), Object.fromEntries(sorted));
  const all = [(rule.agent ?? agent) === agent, glob(name!, call.tool)];
  const read = (pattern: string, value: unknown) =>
    Array.isArray(value) ? list(rule, pattern, value) : glob(pattern, value);
  if (rest.length > 0) all.push(read(rest.join(':'), call.subject === undefined ? whole : whole[call.subject]));
  for (const [field, pattern] of Object.entries(rule.args ?? {})) all.push(read(pattern, whole[field]));
  if (rule.when !== undefined) all.push(conditions[rule.when]!(call, agent));
  return all.includes(false) ? false : all.includes(undefined) ? undefined : true;
}
function list({ action }: Rule, pattern: string, value: unknown[]): boolean {
  const [whole, ...each] = [value, ...value].map((item) => glob(pattern, item) === true);
  if (action !== 'allow') return whole === true || each.includes(true);
  return (whole === true && !pattern.includes('*')) || !each.includes(false);
}
function glob(pattern: string, value: unknown): boolean | undefined {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[^a-z0-9]/g, '\\$&'));
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return value === undefined ? undefined : new RegExp(`^${parts.join('[^]*')}$`).test(text);
}
