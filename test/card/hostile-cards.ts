import * as fc from 'fast-check';
import type { Card, CardRequest } from '../../src/card/card.ts';
import { cardOf } from '../../src/card/card-of.ts';
import type { JsonObject } from '../../src/core/base/tool-call.ts';
import { hostileText, soundText } from './hostile-text.ts';
import { cardRequest, nowMs } from './sample-requests.ts';

const json = fc.letrec<{ value: JsonObject[string] }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    soundText,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, 5, ''),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(soundText, tie('value'), { maxKeys: 3 }),
  ),
})).value;

const args = fc.dictionary(soundText, json, { minKeys: 1, maxKeys: 4 }) as fc.Arbitrary<JsonObject>;

const changes = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('text' as const),
      name: hostileText,
      before: fc.option(hostileText),
      after: fc.option(hostileText),
    }),
    fc.record({
      kind: fc.constant('table' as const),
      name: hostileText,
      columns: fc.array(hostileText, { maxLength: 2 }),
      rows: fc.array(
        fc.record({
          before: fc.option(fc.array(json, { maxLength: 2 })),
          after: fc.option(fc.array(json, { maxLength: 2 })),
        }),
        { maxLength: 3 },
      ),
    }),
  ),
  { maxLength: 2 },
);

const request: fc.Arbitrary<Partial<CardRequest>> = fc.record(
  {
    toolName: hostileText,
    sentence: hostileText,
    arguments: args,
    agentName: hostileText,
    workflowId: hostileText,
    callerUserId: hostileText,
    contextSummary: hostileText,
    rule: hostileText,
    rulePlace: hostileText,
    reason: hostileText,
    requestedAt: hostileText,
    deadline: hostileText,
    digest: hostileText,
    requestId: hostileText,
    lineage: fc.array(hostileText, { maxLength: 2 }),
    reviewers: fc.array(hostileText, { maxLength: 2 }),
    metadata: args,
    schema: fc.record({
      properties: fc.dictionary(soundText, fc.record({ title: hostileText, description: hostileText }), { maxKeys: 3 }),
    }) as fc.Arbitrary<JsonObject>,
    preview: fc.oneof(
      fc.constant({ state: 'pending' as const }),
      fc.record({ state: fc.constant('failed' as const), message: hostileText }),
      fc.record({ state: fc.constant('ready' as const), changes }),
    ) as fc.Arbitrary<CardRequest['preview']>,
  },
  { requiredKeys: ['arguments'] },
);

/** Cards whose every text tries to break out; some of them with so little room that texts are cut. */
export const hostileCard: fc.Arbitrary<{ card: Card; request: CardRequest }> = fc
  .tuple(request, fc.boolean(), fc.array(hostileText, { maxLength: 1 }))
  .map(([given, all, warnings]) => {
    const whole = cardRequest(given);
    return { card: cardOf(whole, { nowMs, all, warnings }), request: whole };
  });
