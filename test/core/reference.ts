/** The rules of policy sections 2 and 3, written a second time to be compared with `evaluate`: slow, short, plain. */
import type { Action, Policy, PolicyLayers } from '../../src/core/policy.ts';
import type { RuledCall } from '../../src/core/ruling.ts';

/** The action for one call, where patterns hold no other wildcard than `*`. */
export function referenceAction({ ceiling, run }: PolicyLayers, call: RuledCall): Action {
  const policies = [ceiling, run].filter((policy) => policy !== undefined);
  return strictest(policies.length === 0 ? [riskDefault({}, call)] : policies.map((policy) => layer(policy, call)));
}

function layer({ rules, riskDefaults }: Policy, call: RuledCall): Action {
  const matched = rules.filter(({ pattern }) => matches(pattern, call) === true).map(({ action }) => action);
  const own = matched.at(-1) ?? riskDefault(riskDefaults, call);
  const failed = rules.some(({ pattern }) => matches(pattern, call) === 'error');
  return failed ? strictest([own, 'ask', ...matched.filter((action) => action === 'deny')]) : own;
}

function strictest(actions: Action[]): Action {
  return actions.includes('deny') ? 'deny' : actions.includes('ask') ? 'ask' : 'allow';
}

function riskDefault(written: Policy['riskDefaults'], { risk }: RuledCall): Action {
  if (risk === 'unknown') return 'ask';
  return written[risk] ?? ({ read_only: 'allow', write: 'ask', destructive: 'deny' } as const)[risk];
}

function matches(pattern: string, { tool, args, subject }: RuledCall): boolean | 'error' {
  const [name, ...rest] = pattern.split(':');
  if (!glob(name!, tool) || rest.length === 0) return glob(name!, tool);
  const whole = Object.fromEntries(Object.entries(args).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  const value = subject === undefined ? whole : Object.hasOwn(args, subject) ? args[subject] : undefined;
  if (value === undefined) return 'error';
  return glob(rest.join(':'), typeof value === 'string' ? value : JSON.stringify(value));
}

function glob(pattern: string, text: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[^a-z0-9]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^]*')}$`).test(text);
}
