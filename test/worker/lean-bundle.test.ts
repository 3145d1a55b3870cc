import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker';
import { leanBundle } from '../../src/worker/lean-bundle.ts';

describe("a lean bundle of an author's workflows", () => {
  let modules: string[];
  const moduleOf = (file: string): string | undefined =>
    modules.find((module) => module.split('\n', 1)[0]!.endsWith(`/lean-bundle/${file}"`));

  beforeAll(async () => {
    const { code } = await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('../fixtures/lean-bundle/workflows.ts', import.meta.url)),
      webpackConfigHook: leanBundle,
      logger: new DefaultLogger('ERROR'),
    });
    modules = code.split(/^(?=\/\*{3}\/ ")/m);
  });

  test('has no indents', () => {
    expect(moduleOf('workflows.ts')).toContain('one ${');
    expect(moduleOf('workflows.ts')).not.toMatch(/^ /m);
  });

  test('keeps the spaces at the start of the lines of a text', () => {
    expect(moduleOf('prompt.ts')).toContain('`You are an agent:\n    first, look\n    then, ask`');
  });
});
