/** Laws for every policy and every call. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { explain } from '../../../src/policy-file/explain.ts';
import type { Policy, PolicyLayers, Rule } from '../../../src/core/policy/policy.ts';
import { actions, type Action } from '../../../src/core/policy/modes.ts';
import {
  compileLayers,
  compilePolicy,
  evaluate,
  type RuledCall,
  type Ruling,
} from '../../../src/core/policy/ruling.ts';
import { digestFor, grant } from '../generate-grants.ts';
import { agent, call, layers, modedPolicy, policy, rule, shellCall } from '../generate.ts';
import { referenceAction } from './reference.ts';
import { runs } from '../../support/thorough.ts';

const ruling = (theLayers: PolicyLayers, theCall: RuledCall, theAgent = 'ops'): Ruling =>
  evaluate(compileLayers(theLayers), theCall, { agent: theAgent });
const noPolicy: Policy = { version: 1, rules: [], riskDefaults: {}, approval: {} };
const strictness = (action: Action): number => actions.indexOf(action);
/** True if any rule cannot be evaluated for this call. */
const errs = (thePolicy: Policy, theCall: RuledCall): boolean =>
  explain({ run: compilePolicy(thePolicy, 'run') }, theCall, { agent: 'ops' }).matches.some(
    ({ matched }) => matched === 'error',
  );

test('evaluate agrees with the reference on random policies', () => {
  fc.assert(
    fc.property(layers, fc.oneof(call, shellCall), agent, (theLayers, theCall, theAgent) => {
      const expected = referenceAction(theLayers, theCall, theAgent);
      expect(ruling(theLayers, theCall, theAgent).action).toBe(expected);
    }),
    { numRuns: runs(2_000) },
  );
});

describe('laws', () => {
  test('an additional deny anywhere never loosens', () => {
    fc.assert(
      fc.property(layers, rule, call, fc.nat(), (theLayers, added, theCall, seed) => {
        const policy = theLayers.run ?? noPolicy;
        const before = ruling({ ...theLayers, run: policy }, theCall).action;
        const rules = policy.rules.toSpliced(seed % (policy.rules.length + 1), 0, { ...added, action: 'deny' });
        const after = ruling({ ...theLayers, run: { ...policy, rules } }, theCall).action;
        expect(strictness(after)).toBeGreaterThanOrEqual(strictness(before));
      }),
      { numRuns: runs(1_000) },
    );
  });

  test('the stricter layer wins, and an additional layer never loosens', () => {
    const any = fc.oneof(policy, modedPolicy);
    fc.assert(
      fc.property(any, any, call, (ceiling, run, theCall) => {
        const alone = [ruling({ ceiling }, theCall).action, ruling({ run }, theCall).action];
        expect(strictness(ruling({ ceiling, run }, theCall).action)).toBe(Math.max(...alone.map(strictness)));
      }),
      { numRuns: runs(1_000) },
    );
  });

  test('a nested agent is never looser than its caller', () => {
    const any = fc.oneof(policy, modedPolicy);
    fc.assert(
      fc.property(layers, any, call, ({ ceiling, parents = [], run = noPolicy }, own, theCall) => {
        const above = { ...(ceiling && { ceiling }), parents, run };
        const nested = { ...(ceiling && { ceiling }), parents: [...parents, run], run: own };
        const actionsOf = [above, { run: own }].map((each) => strictness(ruling(each, theCall).action));
        expect(strictness(ruling(nested, theCall).action)).toBe(Math.max(...actionsOf));
      }),
      { numRuns: runs(1_000) },
    );
  });

  test('within a layer the last match decides', () => {
    fc.assert(
      fc.property(policy, call, fc.constantFrom(...actions), (thePolicy, theCall, action) => {
        fc.pre(!errs(thePolicy, theCall));
        const rules = [...thePolicy.rules, { id: 'last', pattern: '*', action }];
        expect(ruling({ run: { ...thePolicy, rules } }, theCall)).toMatchObject({ action, rule: 'last', layer: 'run' });
      }),
    );
  });

  test('the order of rules that do not both match is irrelevant', () => {
    fc.assert(
      fc.property(policy, call, fc.nat(), (thePolicy, theCall, seed) => {
        fc.pre(thePolicy.rules.length > 1);
        const at = seed % (thePolicy.rules.length - 1);
        const [one, other] = thePolicy.rules.slice(at, at + 2);
        const only = (each: Policy['rules'][number]): Policy => ({ ...thePolicy, rules: [each] });
        const touches = (each: Policy['rules'][number]): boolean => ruling({ run: only(each) }, theCall).rule !== null;
        fc.pre(!touches(one!) || !touches(other!));
        const swapped = { ...thePolicy, rules: thePolicy.rules.with(at, other!).with(at + 1, one!) };
        expect(ruling({ run: swapped }, theCall).action).toBe(ruling({ run: thePolicy }, theCall).action);
      }),
    );
  });

  test("a mode never changes a rule's deny, nor its reason", () => {
    fc.assert(
      fc.property(modedPolicy, call, (moded, theCall) => {
        const { mode: _, ...plain } = moded;
        const before = ruling({ run: plain }, theCall);
        const after = ruling({ run: moded }, theCall);
        if (before.action === 'deny' && before.rule !== null) {
          expect(after).toMatchObject({ action: 'deny' });
          if (after.rule !== null) expect(after).toEqual(before);
        }
        if (after.mode !== undefined)
          expect([after.rule, after.layer, after.mode]).toEqual([null, 'default', moded.mode]);
      }),
      { numRuns: runs(1_000) },
    );
  });

  test('except for bypassPermissions, auto_approve and approve_all, no mode allows what a rule asks about', () => {
    fc.assert(
      fc.property(modedPolicy, call, (moded, theCall) => {
        fc.pre(!['bypassPermissions', 'auto_approve', 'approve_all'].includes(moded.mode!));
        const { mode: _, ...plain } = moded;
        const before = ruling({ run: plain }, theCall);
        fc.pre(before.rule !== null && before.action !== 'allow');
        expect(ruling({ run: moded }, theCall).action).not.toBe('allow');
      }),
      { numRuns: runs(1_000) },
    );
  });

  test('a grant only turns ask into allow, and none is wider than each asking rule admits', () => {
    fc.assert(
      fc.property(layers, call, fc.array(grant, { maxLength: 4 }), (theLayers, theCall, grants) => {
        const compiled = compileLayers(theLayers);
        const context = { agent: 'ops', digest: digestFor(theCall), atMs: 1_000 };
        const before = evaluate(compiled, theCall, context);
        const after = evaluate(compiled, theCall, { ...context, grants });
        const used = grants.find(({ grantId }) => grantId === after.rule);
        if (before.action !== 'ask' || after.action === 'ask')
          expect([before.action, after]).toEqual([
            before.action,
            after.action === before.action ? before : expect.objectContaining({ action: 'allow', layer: 'grant' }),
          ]);
        if (after.layer !== 'grant') {
          expect(after).toEqual(before);
          return;
        }
        expect([before.action, used?.approved, used?.tool]).toEqual(['ask', true, theCall.tool]);
        const kinds = ['call', 'arguments', 'tool'];
        const widest = before.ask?.always ?? 'tool';
        expect(kinds.indexOf(used!.scope.kind)).toBeLessThanOrEqual(kinds.indexOf(String(widest)));
      }),
      { numRuns: runs(1_000) },
    );
  });

  test('an unknown risk is never allowed by default', () => {
    fc.assert(
      fc.property(layers, call, (theLayers, theCall) => {
        const { action, layer, mode } = ruling(theLayers, { ...theCall, risk: 'unknown' });
        if (layer === 'default' && mode === undefined) expect(action).toBe('ask');
      }),
    );
  });

  describe('a rule that cannot be evaluated', () => {
    const any = fc.oneof(policy, modedPolicy);
    const anyCall = fc.oneof(call, shellCall);
    /** A rule that matched then cannot be evaluated; one that did not match still does not. */
    const uncertain = (each: Rule): Rule => ({
      ...each,
      when: `${each.when === undefined ? '' : `(${each.when}) && `}args.missing == 1`,
    });
    const failing = (thePolicy: Policy, theCall: RuledCall, action: Action) =>
      explain({ run: compilePolicy(thePolicy, 'run') }, theCall, { agent: 'ops' }).matches.some(
        (each) => each.matched === 'error' && each.action === action,
      );

    test('denies if it denies, and does not allow if it asks, whatever stands beside it', () => {
      fc.assert(
        fc.property(any, layers, anyCall, (run, above, theCall) => {
          const { action } = ruling({ ...above, run }, theCall);
          if (failing(run, theCall, 'deny')) expect(action).toBe('deny');
          if (failing(run, theCall, 'ask')) expect(action).not.toBe('allow');
        }),
        { numRuns: runs(1_500) },
      );
    });

    test('changes nothing if it allows, except that each deny that matched counts', () => {
      fc.assert(
        fc.property(any, anyCall, fc.nat(), (run, theCall, seed) => {
          fc.pre(!run.rules.some(({ action }) => action === 'deny'));
          const added: Rule = { pattern: '*', when: 'args.missing == 1', action: 'allow' };
          const rules = run.rules.toSpliced(seed % (run.rules.length + 1), 0, added);
          const [with_, without] = [{ ...run, rules }, run].map((each) => ruling({ run: each }, theCall).action);
          expect(with_).toBe(without);
        }),
        { numRuns: runs(1_000) },
      );
    });

    test('never allows more than the same rule when it could be evaluated', () => {
      fc.assert(
        fc.property(any, layers, anyCall, fc.array(fc.boolean(), { maxLength: 6 }), (run, above, theCall, which) => {
          const rules = run.rules.map((each, index) => (which[index] === true ? uncertain(each) : each));
          const before = ruling({ ...above, run }, theCall).action;
          const after = ruling({ ...above, run: { ...run, rules } }, theCall).action;
          expect(strictness(after)).toBeGreaterThanOrEqual(strictness(before));
        }),
        { numRuns: runs(3_000) },
      );
    });
  });

  describe('arguments beside a command', () => {
    const besideZ = fc.tuple(fc.oneof(policy, modedPolicy), layers, shellCall);
    /** No generated rule, condition or grant reads `z`. */
    const withZ = (theCall: RuledCall): RuledCall => ({ ...theCall, args: { ...theCall.args, z: 1 } });

    test('an undeclared argument never loosens: it turns no ask or deny into an allow', () => {
      fc.assert(
        fc.property(layers, shellCall, (theLayers, theCall) => {
          const [before, after] = [theCall, withZ(theCall)].map((each) => strictness(ruling(theLayers, each).action));
          expect(after).toBeGreaterThanOrEqual(before!);
        }),
        { numRuns: runs(1_000) },
      );
    });

    test('a rule for the command that does not name the argument loosens nothing', () => {
      fc.assert(
        fc.property(besideZ, fc.constantFrom('*', '*:*', 's*:a*'), fc.nat(), ([run, above, theCall], pattern, seed) => {
          const at = seed % (run.rules.length + 1);
          const added: Rule = { pattern, ...(pattern === '*' && { args: { to: '*' } }), action: 'allow' };
          const rules = run.rules.toSpliced(at, 0, added);
          const withRule = ruling({ ...above, run: { ...run, rules } }, withZ(theCall)).action;
          expect(strictness(withRule)).toBeGreaterThanOrEqual(
            strictness(ruling({ ...above, run }, withZ(theCall)).action),
          );
        }),
        { numRuns: runs(1_000) },
      );
    });

    test('a declared argument changes nothing', () => {
      fc.assert(
        fc.property(layers, shellCall, (theLayers, theCall) => {
          const declared = { ...withZ(theCall), beside: [...theCall.beside!, 'z'] };
          expect(ruling(theLayers, declared)).toEqual(ruling(theLayers, theCall));
        }),
        { numRuns: runs(1_000) },
      );
    });

    test('a grant that matches arguments answers no call with an undeclared argument that it does not match', () => {
      fc.assert(
        fc.property(layers, shellCall, fc.array(grant, { maxLength: 4 }), (theLayers, theCall, grants) => {
          const ofArguments = grants.filter(({ scope }) => scope.kind === 'arguments');
          const context = { agent: 'ops', atMs: 1_000, grants: ofArguments };
          expect(evaluate(compileLayers(theLayers), withZ(theCall), context).layer).not.toBe('grant');
        }),
        { numRuns: runs(1_000) },
      );
    });
  });

  test('any text for a pattern, a tool and an argument gives a ruling', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 });
    const odd = fc.oneof(
      text,
      fc
        .array(fc.constantFrom('*', '[', ']', '-', '\ud800', '\ufdd0', ':', 'a'), { maxLength: 40 })
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(
        odd,
        odd,
        odd,
        fc.constantFrom(...actions),
        fc.boolean(),
        (pattern, tool, argument, action, whole) => {
          const run: Policy = {
            version: 1,
            rules: [
              { pattern, action },
              { pattern: `${tool}:${pattern}`, action },
            ],
            riskDefaults: {},
            approval: {},
          };
          const theCall: RuledCall = {
            tool,
            args: { argument },
            risk: 'write',
            ...(whole ? {} : { subject: 'argument' }),
          };
          expect(actions).toContain(ruling({ run }, theCall).action);
        },
      ),
      { numRuns: runs(1_000) },
    );
  });
});

test('the reference stays short enough to be read at once', () => {
  const lines = readFileSync(new URL('reference.ts', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');
  expect(lines.length).toBeLessThanOrEqual(62);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(120);
});
