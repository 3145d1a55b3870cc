import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { bundledPath } from '../../src/connection/bundled-path.ts';
import { defineTool } from '../../src/index.ts';
import { countersignPlugin } from '../../src/worker.ts';

const pay = defineTool({ name: 'pay', description: '', input: z.object({}), execute: () => 1 });
const own = bundledPath('sandbox/payload-converter');
const activation = bundledPath('interceptors');

describe('a worker', () => {
  const options = { taskQueue: 'q', workflowsPath: 'workflows.ts' };

  test('keeps its own activities and interceptors, and gets ours too', async () => {
    const interceptor = () => ({});
    const configured = await countersignPlugin({ tools: [pay] }).configureWorker({
      ...options,
      activities: { mail: () => 1 },
      interceptors: { activity: [interceptor], workflowModules: ['theirs'] },
      stickyQueueScheduleToStartTimeout: '7s',
    });
    expect(Object.keys(configured.activities!)).toEqual(
      expect.arrayContaining(['mail', 'pay', 'countersign.loadGate']),
    );
    expect(configured.interceptors).toMatchObject({
      activity: [interceptor, expect.any(Function)],
      workflowModules: ['theirs', activation],
    });
    expect(configured.dataConverter).toMatchObject({ payloadConverterPath: own });
    expect(configured.stickyQueueScheduleToStartTimeout).toBe('7s');
  });

  test('with its own bundle gets no modules, which would be ignored', async () => {
    const configured = await countersignPlugin().configureWorker({ taskQueue: 'q', workflowBundle: { code: '' } });
    expect(configured.interceptors!.workflowModules).toBeUndefined();
  });

  test.each<[string, () => unknown, RegExp]>([
    [
      'a payload converter',
      () => ({ dataConverter: { payloadConverterPath: '/theirs' } }),
      /remove payloadConverterPath \(\/theirs\)/,
    ],
    ['an activity of a name of ours', () => ({ activities: { pay: () => 1 } }), /has an activity 'pay' already/],
  ])('with %s is refused in one sentence', async (_name, more, message) => {
    const configure = countersignPlugin({ tools: [pay] }).configureWorker;
    await expect(Promise.resolve(configure({ ...options, ...(more() as object) }))).rejects.toThrow(message);
  });
});

describe('a bundle', () => {
  const plugin = countersignPlugin();
  const bundle = { workflowsPath: 'workflows.ts', workflowInterceptorModules: ['theirs', activation] };

  test('gets our modules once, after its own, and the hooks of other plugins first', () => {
    const order: string[] = [];
    const configured = plugin.configureBundler!({
      ...bundle,
      webpackConfigHook: (config) => {
        order.push('theirs');
        return { ...config, name: 'theirs' };
      },
    });
    expect(configured.workflowInterceptorModules).toEqual(['theirs', activation]);
    expect(configured.payloadConverterPath).toBe(own);
    expect(configured.webpackConfigHook!({})).toMatchObject({ name: 'theirs', output: { asyncChunks: false } });
    expect(order).toEqual(['theirs']);
  });

  test('keeps its comments and sources, unless leanBundle is set', () => {
    const sourceMapOf = (leanBundle?: boolean): unknown => {
      const lean = countersignPlugin(leanBundle === undefined ? {} : { leanBundle });
      return lean.configureBundler!(bundle).webpackConfigHook!({ devtool: 'source-map' }).devtool;
    };
    expect(sourceMapOf()).toBe('source-map');
    expect(sourceMapOf(true)).toMatch(/nosources/);
  });

  test('with another payload converter is refused', () => {
    expect(() => plugin.configureBundler!({ ...bundle, payloadConverterPath: '/theirs' })).toThrow(
      /its own payload converter/,
    );
  });
});

test.each<[string, object, RegExp]>([
  [
    'a tool and a gated activity of one name',
    { tools: [pay], gated: { pay: {} } },
    /'pay' is a tool and a gated activity/,
  ],
  ['a policy that does not load', { policy: 'version: 2\n' }, /:1:/],
  [
    'a limit at which continue-as-new would never end',
    { continueAsNewAfter: { updates: 3 } },
    /continueAsNewAfter.updates must be a whole number from 10 to 1900/,
  ],
])('%s: reported when the plugin is created', (_name, options, message) => {
  expect(() => countersignPlugin(options)).toThrow(message);
});
