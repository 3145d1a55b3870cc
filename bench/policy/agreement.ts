import type { Engine } from './engines.ts';
import type { Work } from './works.ts';

/**
 * Throws unless all engines give the same answer to each call, and all three answers occur. Otherwise the times would
 * mean nothing.
 */
export function checkAgreement({ name, rules, timed, checked }: Work, engines: readonly Engine[]): void {
  const [first, ...rest] = engines.map((engine) => ({ engine: engine.name, rule: engine.load(rules) }));
  const answers = new Set<string>();
  for (const call of [...timed, ...checked]) {
    const answer = first!.rule(call);
    answers.add(answer);
    for (const { engine, rule } of rest) {
      const other = rule(call);
      if (other === answer) continue;
      throw new Error(`${name}: ${engine} says ${other} of ${JSON.stringify(call)}, ${first!.engine} says ${answer}`);
    }
  }
  if (answers.size < 3) throw new Error(`${name}: all answers are ${[...answers].join(' or ')}`);
}
