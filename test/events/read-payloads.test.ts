import { expect, test } from 'vitest';
import { readModelTurn, readStructuredOutput } from '../../src/events/read-payloads.ts';

/** Whoever may write to the namespace can put anything into the results that events are made of. */

test.each([undefined, null, 'x', 7, [], [{}]])('%j is no value of an agent with an output', (structuredOutput) => {
  expect(readStructuredOutput(structuredOutput)).toEqual({});
  expect(readModelTurn({ text: '', calls: [], structuredOutput, outputProblem: {} })).toEqual({ text: '', calls: [] });
});

test('a value and a problem are read', () => {
  expect(readStructuredOutput({ a: 1 })).toEqual({ structuredOutput: { a: 1 } });
  const turn = { text: '', calls: [], outputProblem: 'output: no' };
  expect(readModelTurn(turn)).toEqual(turn);
});
