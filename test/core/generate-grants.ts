/** Random grants that often fit the calls of generate.ts. */
import fc from 'fast-check';
import type { Grant } from '../../src/core/policy/grants.ts';
import type { RuledCall } from '../../src/core/policy/ruling.ts';

/** Stands in for the call's digest, which a grant of kind `call` compares. */
export function digestFor({ tool, args }: RuledCall): string {
  return JSON.stringify([tool, Object.keys(args).length]);
}

const tool = fc.constantFrom('read', 'send', 'send_mail', 'drop', 'other');

export const grant: fc.Arbitrary<Grant> = fc
  .record({
    grantId: fc.uuid(),
    tool,
    approved: fc.constantFrom(true, true, true, false),
    scope: fc.oneof(
      fc.record({ kind: fc.constant('tool' as const) }),
      fc.record({
        kind: fc.constant('call' as const),
        digest: fc.tuple(tool, fc.nat(3)).map((parts) => JSON.stringify(parts)),
      }),
      fc.record({
        kind: fc.constant('arguments' as const),
        match: fc.dictionary(fc.constantFrom('to', 'x'), fc.constantFrom('*', 'a*', '1', '[z-a]'), {
          maxKeys: 2,
          noNullPrototype: true,
        }),
      }),
    ),
    expiresAtMs: fc.option(fc.constantFrom(999, 1_000, 1_001), { nil: undefined }),
    usesLeft: fc.option(fc.constantFrom(0, 1), { nil: undefined }),
  })
  .map(({ expiresAtMs, usesLeft, ...rest }) => ({
    ...rest,
    ...(expiresAtMs !== undefined && { expiresAtMs }),
    ...(usesLeft !== undefined && { usesLeft }),
  }));
