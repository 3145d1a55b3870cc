import { evaluate } from '../../src/core/policy/ruling.ts';
import { loadPolicy } from './engines.ts';

/**
 * The time in milliseconds, cold, of the slowest of a few hostile patterns, each against 1 MB of text that nearly
 * matches.
 */
export function hostileMs(): number {
  const patterns = [
    `t:${'*a'.repeat(15)}*b`,
    `t:${'?*'.repeat(8)}b`,
    `t:*${'[a-b]*'.repeat(7)}c`,
    `t:${'a'.repeat(250)}*b`,
  ];
  const args = { text: 'a'.repeat(1_000_000) };
  return Math.max(
    ...patterns.map((pattern) => {
      const layers = { run: loadPolicy({ rules: [{ pattern, action: 'allow' }] }) };
      const from = performance.now();
      evaluate(layers, { tool: 't', args, risk: 'write', subject: 'text' });
      return performance.now() - from;
    }),
  );
}
