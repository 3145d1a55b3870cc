import { pathToFileURL } from 'node:url';
import { formatWithOptions } from 'node:util';
import { vi } from 'vitest';

/** Runs an example once and returns what it prints, each as one line. */
export async function printsOf(file: string): Promise<string[]> {
  const printed: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((...values: unknown[]) => {
    printed.push(formatWithOptions({ breakLength: Infinity }, ...values).replaceAll(/\s+/g, ' '));
  });
  try {
    await import(pathToFileURL(file).href);
    return printed;
  } finally {
    log.mockRestore();
  }
}
