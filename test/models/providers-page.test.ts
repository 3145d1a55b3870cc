import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import type { Agent } from '../../src/agents/definitions.ts';

/** The example of docs/models.md for the providers of the AI SDK runs, with the packages that the tests have. */

const root = join(import.meta.dirname, '..', '..');
// There, packages are found as in a project.
const folder = mkdtempSync(join(root, 'node_modules', '.page-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('each package gives a model for an agent', async () => {
  const page = readFileSync(join(root, 'docs', 'models.md'), 'utf8');
  const [, code] = /```ts providers\n([^]*?)```/.exec(page)!;
  const file = join(folder, 'providers.mjs');
  writeFileSync(file, code!.replace("'countersign'", JSON.stringify(join(root, 'src', 'index.ts'))));
  const keys = [...code!.matchAll(/\/\/ ([A-Z_]+_KEY)/g)].map(([, name]) => name!);
  expect(keys).toHaveLength(4);
  for (const key of keys) vi.stubEnv(key, 'a-key');
  const { agents } = (await import(file)) as { agents: Agent[] };
  vi.unstubAllEnvs();
  expect(agents.map(({ name, model }) => [name, model.specificationVersion])).toEqual([
    ['claude', 'v4'],
    ['gemini', 'v4'],
    ['mistral', 'v4'],
    ['gpt', 'v4'],
  ]);
});
