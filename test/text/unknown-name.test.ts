/** Options are read with all that they inherit, so a misspelt one is found there, too. */
import { describe, expect, test } from 'vitest';
import { optionProblem } from '../../src/text/check-call-options.ts';
import { CountersignPlugin } from '../../src/worker.ts';

const inherited = (members: object, own: object = {}): object => Object.assign(Object.create(members) as object, own);
class Settings {
  policy = 'policy.yaml';
  path(): string {
    return this.policy;
  }
}

describe('an option with an unknown name', () => {
  test.each<[string, object, string]>([
    ['own', { polcy: 1 }, "unknown option 'polcy': did you mean 'policy'?"],
    ['inherited', inherited({ polcy: 1 }), "unknown option 'polcy': did you mean 'policy'?"],
    ['inherited from far', inherited(inherited({ polcy: 1 }), { policy: 1 }), "unknown option 'polcy'"],
    ['inherited from nothing else', inherited(Object.assign(Object.create(null) as object, { a: 1 })), "option 'a'"],
  ])('%s', (_, options, problem) => {
    expect(optionProblem(options, ['policy', 'gated'])).toContain(problem);
    expect(() => new CountersignPlugin(options as never)).toThrow('unknown option');
  });

  test.each<[string, object]>([
    ['none', {}],
    ['own', { policy: 1 }],
    ['a symbol, as those that mark what we made', { [Symbol('a')]: 1 }],
    ['inherited', inherited({ policy: 1 }, { gated: 1 })],
    ['without a prototype', Object.assign(Object.create(null) as object, { policy: 1 })],
    ['of a class with methods', new Settings()],
  ])('%s: no problem', (_, options) => expect(optionProblem(options, ['policy', 'gated'])).toBeUndefined());
});
