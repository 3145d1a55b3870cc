import { describe, expect, test } from 'vitest';
import { assessBuiltIn } from '../../src/assess/assess.ts';
import { readAmount } from '../../src/assess/money.ts';
import type { JsonObject, Risk, Severity } from '../../src/core/base/tool-call.ts';

const severity = (tool: string, args: JsonObject, risk: Risk = 'write'): Severity | undefined =>
  assessBuiltIn({ tool, args, risk })?.severity;

describe('an amount', () => {
  test.each<[JsonObject, Severity]>([
    [{ amount: 0 }, 'medium'],
    [{ amount: 999.99 }, 'medium'],
    [{ amount: 1_000 }, 'high'],
    [{ amount: 10_000 }, 'critical'],
    [{ amount: -10_000 }, 'critical'],
    [{ amount: '1,234.50' }, 'high'],
    [{ amount: '€ 12.500,00' }, 'critical'],
    [{ amount: '10k' }, 'high'],
    [{ amount: true }, 'high'],
    [{}, 'high'],
    [{ amount_cents: 50_000 }, 'medium'],
    [{ amountInCents: 100_000 }, 'high'],
    [{ payment: { amount: 20_000 } }, 'critical'],
    [{ total: 20_000 }, 'critical'],
    [{ amount: 20_000, currency: 'EUR' }, 'critical'],
    [{ amount: 20_000, currency: 'jpy' }, 'medium'],
    [{ amount: 1, currency: 'BTC' }, 'critical'],
    [{ amount: 20_000, currency: ['JPY', 'EUR'] }, 'critical'],
    [{ amount: 20_000, currency: 'constructor' }, 'critical'],
    [{ amount: 1e308, currency: 'BTC' }, 'critical'],
  ])('pay(%j): %s', (args, expected) => expect(severity('pay', args)).toBe(expected));
});

describe('which calls move money', () => {
  test.each<[string, JsonObject, Risk, Severity | undefined]>([
    ['wire_transfer', { amount: 5_000 }, 'write', 'high'],
    ['transfer', { amount: 5_000 }, 'write', 'high'],
    ['transfer_file', { name: 'x' }, 'write', undefined],
    ['create_invoice', { total: 5_000 }, 'write', 'high'],
    ['set_level', { amount: 5_000 }, 'write', undefined],
    ['set_level', { amount: 5_000, currency: 'USD' }, 'write', 'high'],
    ['search_products', { price: 5_000, currency: 'USD' }, 'read_only', undefined],
    ['get_refund', { amount: 5_000 }, 'read_only', undefined],
    ['refund', { amount: 5_000 }, 'read_only', 'high'],
  ])('%s(%j), %s: %s', (tool, args, risk, expected) => expect(severity(tool, args, risk)).toBe(expected));
});

describe('an amount as text', () => {
  test.each<[string, number | undefined]>([
    ['5', 5],
    ['5.5', 5.5],
    ['5,50', 5.5],
    ['1.234', 1_234],
    ['1,234.5', 1_234.5],
    ['1.234,567', 1_234_567],
    ['0.12345', 0.12345],
    [`CHF 1'000`, 1_000],
    ['1 000 EUR', 1_000],
    ['$-5', 5],
    ['', undefined],
    ['1e9', undefined],
    ['٥', undefined],
    ['lots', undefined],
    ['1'.repeat(41), undefined],
  ])('%j: %s', (text, expected) => expect(readAmount(text)).toBe(expected));
});

test('a payment cannot be undone', () => {
  expect(assessBuiltIn({ tool: 'pay', args: { amount: 5, iban: 'DE00' }, risk: 'write' })).toMatchObject({
    reasons: ['it moves money'],
    affectedResources: ['account:DE00'],
    reversible: false,
  });
  expect(assessBuiltIn({ tool: 'create_order', args: { amount: 5 }, risk: 'write' })?.reversible).toBe(true);
});
