/** The compared engines. Each gets the rules as its own users would write them. */
import { minimatch } from 'minimatch';
import { parsePolicy } from '../../src/policy-file/parse-policy.ts';
import type { Action } from '../../src/core/policy/modes.ts';
import { compilePolicy, evaluate, type CompiledPolicy, type RuledCall } from '../../src/core/policy/ruling.ts';
import { textOf, type Rule } from './works.ts';

export interface Engine {
  name: string;
  /** Loads the rules once; the returned function answers any number of calls. */
  load: (rules: readonly Rule[]) => (call: RuledCall) => Action;
}

export const countersign: Engine = {
  name: 'countersign',
  load: (rules) => {
    const layers = { run: loadPolicy(policyDocument(rules)) };
    return (call) => evaluate(layers, call).action;
  },
};

export function policyDocument(rules: readonly Rule[]): object {
  return {
    rules: rules.map(({ name, text, over, action }) => ({
      pattern: text === undefined ? name : `${name}:${text}`,
      action,
      ...(over && { when: `args.${over.field} > ${over.amount}` }),
    })),
  };
}

/** From an object, or from YAML text. */
export function loadPolicy(source: string | object): CompiledPolicy {
  const parsed = parsePolicy(source);
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems[0]));
  return compilePolicy(parsed.policy, 'run');
}

/** A simple first version: a loop over the rules, in which minimatch compiles each pattern for each call. */
export const naive: Engine = {
  name: 'minimatch for each call',
  load: (rules) => {
    const options = { dot: true, nobrace: true, nocomment: true, noext: true, noglobstar: true, nonegate: true };
    return (call) => {
      let action: Action = 'ask';
      // Otherwise a star would stop at each slash.
      const text = textOf(call).replaceAll('/', '\0');
      for (const { name, text: glob, over, action: ruled } of rules) {
        if (!minimatch(call.tool, name, options)) continue;
        if (glob !== undefined && !minimatch(text, glob.replaceAll('/', '\0'), options)) continue;
        if (over !== undefined && !((call.args[over.field] as number) > over.amount)) continue;
        action = ruled;
      }
      return action;
    };
  },
};
