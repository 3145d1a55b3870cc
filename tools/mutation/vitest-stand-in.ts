/** Replaces Vitest: collects the tests of a file so that they can run repeatedly without it. */
import { expect, vi } from 'vitest';

export { expect, vi };

export interface KeptTest {
  name: string;
  run: (...args: never[]) => unknown;
}

type Body = (...args: never[]) => unknown;

const kept: KeptTest[] = [];
let path: string[] = [];

/** The tests collected since the last call. */
export function takeTests(): KeptTest[] {
  return kept.splice(0);
}

export function test(name: string, body: Body): void {
  const run: Body = async (...args) => {
    try {
      await body(...args);
    } finally {
      // As vitest.config.ts says; packages, such as minimatch, are the same for the next test and mutant.
      vi.restoreAllMocks();
    }
  };
  kept.push({ name: [...path, name].join(' > '), run });
}

export function describe(name: string, body: Body): void {
  const outer = path;
  path = [...outer, name];
  body();
  path = outer;
}

type Declare = (name: string, body: Body) => void;

const withRow =
  (each: Declare) =>
  (rows: readonly unknown[]): Declare =>
  (name, body) => {
    const isTable = rows.every((row) => Array.isArray(row));
    for (const [index, row] of rows.entries()) {
      const args = (isTable ? row : [row]) as never[];
      each(`${name} [${index}]`, () => body(...args));
    }
  };

test.each = withRow(test);
describe.each = withRow(describe);
