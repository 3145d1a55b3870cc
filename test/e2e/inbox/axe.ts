import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

let source: string | undefined;

/**
 * What axe finds wrong in a page that has no frames: the rules that are broken, each with the elements that break it.
 * Axe stays in the page, so the next look is cheaper.
 */
export async function axeFindings(page: Page, rules?: readonly string[]): Promise<string[][]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) {
    source ??= readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
    await page.evaluate(`${source}; undefined`);
  }
  const options = { resultTypes: ['violations'], ...(rules !== undefined && { runOnly: rules }) };
  return page.evaluate<string[][]>(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html.slice(0, 200))]))`);
}
