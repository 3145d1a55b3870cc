import { z } from 'zod';
import { count, finite, text } from './shape-values.ts';

/** An amount alone, or a map of two. `sentence`: what an amount must be. */
const limit = <Amount extends z.ZodType<number | string>>(amount: Amount, sentence: string) =>
  z
    .union(
      [
        z
          .strictObject({
            ask: amount.optional().describe('A person decides whether the run goes on for as much again.'),
            end: amount.optional().describe('The run ends.'),
          })
          .refine(({ ask, end }) => ask !== undefined || end !== undefined, "must have 'ask', 'end' or both"),
        amount,
      ],
      `must be ${sentence}, or a map of 'ask' and 'end'`,
    )
    .optional();
const amountOf = (most: number) => limit(count(1, most), `a whole number from 1 to ${most}`);
const cost = z
  .number('must be a number above 0')
  .gt(0, 'must be a number above 0')
  .max(1e9, 'must be at most 1000000000');
const price = z
  .number('must be a number of at least 0')
  .min(0, 'must be a number of at least 0')
  .max(1e9, 'must be at most 1000000000');
export const pricesShape = z
  .strictObject({
    currency: z.string().regex(/^[A-Z]{3}$/, 'must be three capital letters, such as USD'),
    models: z
      .record(
        text(100),
        z.strictObject({
          input: price,
          cached_input: price
            .optional()
            .describe('The price of input tokens that the provider read from its cache. Default: that of input.'),
          output: price,
        }),
      )
      .refine((models) => Object.keys(models).length <= 1_000, 'must name at most 1000 models'),
  })
  .describe('What a million tokens cost, by the id of the model. In the ceiling only.');
export const limitsShape = z
  .strictObject({
    turns: amountOf(100_000).describe('Calls of the model.'),
    calls: amountOf(1_000_000).describe('Calls of tools that reach the gate.'),
    tokens: amountOf(1_000_000_000_000).describe('Tokens of the model, in and out.'),
    time: limit(finite, 'a duration such as 2h').describe('Time since the run started.'),
    cost: limit(cost, 'a number above 0').describe('What the models cost, in the currency of `prices`.'),
  })
  .describe('How far an agent run goes. An amount alone is its end.');
