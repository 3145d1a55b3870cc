import { describe, expect, test, vi } from 'vitest';
import { encrypted } from '../../src/codec.ts';
import { type BundleInputs, type BundleKind, bundleKind, packageBundle } from '../../src/worker/package-bundle.ts';

/** Which workers run the workflow bundle of the package. `test/e2e/examples/outside-project.test.ts` has such a bundle. */

const key = { id: 'k1', key: Buffer.alloc(32) };

describe('a worker whose options bring no workflow code runs a bundle of the package', () => {
  test.each<[string, BundleInputs, BundleKind]>([
    ['no options', {}, 'plain'],
    ['empty lists', { plugins: [], interceptors: { workflowModules: [] }, bundlerOptions: {} }, 'plain'],
    ['interceptors of activities', { interceptors: { activity: [] } }, 'plain'],
    ['a payload codec', { dataConverter: { payloadCodecs: [] } }, 'plain'],
    ['leanBundle: true', { leanBundle: true }, 'plain'],
    ['encrypted()', { dataConverter: encrypted({ keys: [key] }) }, 'encrypted'],
  ])('%s', (_, options, kind) => expect(bundleKind(options)).toBe(kind));
});

describe('a worker whose options bring workflow code does not', () => {
  test.each<[string, BundleInputs]>([
    ['workflowsPath', { workflowsPath: '/workflows.js' }],
    ['workflowBundle', { workflowBundle: { code: '' } }],
    ['plugins', { plugins: [{ name: 'tracing' }] }],
    ['leanBundle: false', { leanBundle: false }],
    ['interceptors.workflowModules', { interceptors: { workflowModules: ['/interceptors.js'] } }],
    ['dataConverter.failureConverterPath', { dataConverter: { failureConverterPath: '/failure-converter.js' } }],
    ['bundlerOptions.ignoreModules', { bundlerOptions: { ignoreModules: ['fs'] } }],
    ['bundlerOptions.preloadModules', { bundlerOptions: { preloadModules: ['/preloaded.js'] } }],
    ['bundlerOptions.webpackConfigHook', { bundlerOptions: { webpackConfigHook: (config) => config } }],
    [
      'workflow modules beside encrypted()',
      { dataConverter: encrypted({ keys: [key] }), interceptors: { workflowModules: ['/interceptors.js'] } },
    ],
  ])('%s', (_, options) => expect(bundleKind(options)).toBe('own'));
});

test.each<BundleKind>(['plain', 'encrypted', 'own'])('sources that run uncompiled have no bundle (%s)', (kind) => {
  const refused = vi.fn<(sentence: string) => void>();
  expect(packageBundle(kind, refused)).toBeUndefined();
  expect(refused).not.toHaveBeenCalled();
});
