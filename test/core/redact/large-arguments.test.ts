/** Redaction of arguments that a model chose to be expensive: the workflow has two seconds, a payload two megabytes. */
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { sameTexts } from '../../../src/core/redact/join-redactions.ts';
import { keptValues } from '../../../src/core/redact/kept-values.ts';
import { sensitiveKinds } from '../../../src/core/redact/kinds.ts';
import { redactedArguments, redactionOf } from '../../../src/core/redact/redaction.ts';
import { restorePlaceholders } from '../../../src/redact/restore-placeholders.ts';
import { redactionFor } from '../../../src/workflows/state/record-request.ts';
import { growth, squareGrowth } from '../../support/processor-time.ts';

const settings = { kinds: sensitiveKinds, patterns: [], also: [] };
const addresses = (count: number): string[] => Array.from({ length: count }, (_, index) => `u${index}@acme.com`);
const valuesOf = (args: JsonObject) => redactionOf(args, { settings }).values;

describe('values that an edit keeps', () => {
  const oneItem: JsonObject = { rows: [{ mails: addresses(2_000) }] };

  test('grow with the arguments, also if one item of a list holds them all', () => {
    const kept = keptValues(oneItem, valuesOf(oneItem));
    expect(kept).toHaveLength(2_000);
    expect(JSON.stringify(kept).length).toBeLessThan(20 * JSON.stringify(oneItem).length);
  });

  test('return to an item that is otherwise unchanged, and to no other', () => {
    const values = valuesOf(oneItem);
    const kept = keptValues(oneItem, values);
    const shown = redactedArguments(oneItem, values);
    expect(restorePlaceholders(shown, kept)).toEqual({ args: oneItem });
    const changed = { rows: [{ ...(shown['rows'] as JsonObject[])[0], note: 'x' }] };
    expect(restorePlaceholders(changed, kept)).toEqual({
      problem: expect.stringContaining('keeps its value only if arguments.rows[0] is otherwise unchanged'),
    });
  });

  test('are none if they are too large for one payload: no placeholder runs as it is written', () => {
    const many: JsonObject = Object.fromEntries(addresses(20_000).map((each, index) => [`k${index}`, each]));
    const values = [...valuesOf(many), { path: ['k0'], spans: [[0, 3, '[OWN]'] as [number, number, string]] }];
    const kept = keptValues(many, values);
    expect(JSON.stringify(kept).length).toBeLessThan(1_000);
    for (const placeholder of ['[EMAIL]', '[EMAIL …om · f966]', '[OWN]']) {
      expect(restorePlaceholders({ k1: placeholder }, kept)).toEqual({
        problem: expect.stringContaining(`${placeholder} stands for a value that was not here`),
      });
    }
  });
});

describe('an edit that repeats what is hidden', () => {
  test('is hidden as a whole if it takes too long to find where', () => {
    const timed = (count: number) => {
      const many: JsonObject = Object.fromEntries(addresses(count).map((each, index) => [`k${index}`, each]));
      const values = valuesOf(many);
      expect(redactedArguments(many, sameTexts(many, many, values))['k7']).toBe('[REDACTED]');
      return () => void sameTexts(many, many, values);
    };
    expect(growth(timed, 5_000)).toBeLessThan(squareGrowth);
  });

  test('is hidden as a whole where it is repeated very often', () => {
    const values = valuesOf({ password: 'aaaa' });
    const timed = (count: number) => {
      const edited = { note: 'aaaa'.repeat(count) };
      const search = () => sameTexts(edited, { password: 'aaaa' }, values);
      expect(redactedArguments(edited, search())).toEqual({ note: '[REDACTED]' });
      return () => void search();
    };
    expect(growth(timed, 25_000)).toBeLessThan(squareGrowth);
  });
});

test('a workflow does not search more values than it can in its time: it shows none', () => {
  const ruled = { subject: undefined, shell: undefined };
  const timed = (length: number) => {
    const args = { list: Array.from({ length }, () => 'x') };
    expect(redactionFor({ args, ruled }, settings)).toBeUndefined();
    return () => void redactionFor({ args, ruled }, settings);
  };
  expect(growth(timed, 62_500)).toBeLessThan(squareGrowth);
  expect(redactionFor({ args: { list: ['x'] }, ruled }, settings)).toMatchObject({ values: [] });
  // The calls that one activation searches share its time.
  const long = { text: 'x'.repeat(30_000) };
  expect(redactionFor({ args: long, ruled }, settings)).toMatchObject({ values: [] });
  expect(redactionFor({ args: long, ruled }, settings, 50)).toBeUndefined();
});
