import { describe, expect, test } from 'vitest';
import { setActivityOptions } from '@temporalio/activity';
import { ExternalStorage } from '@temporalio/common';
import { z } from 'zod';
import { modulePath } from '../../src/connection/module-path.ts';
import { noDriver, unreadReferences } from '../../src/payload-folder/large-payloads.ts';
import { defineAgent, defineTool, scriptedModel } from '../../src/index.ts';
import { CountersignPlugin } from '../../src/worker.ts';

const pay = defineTool({ name: 'pay', description: '', input: z.object({}), execute: () => 1 });
const own = modulePath('workflows/sandbox/payload-converter');
const ownOfWorkers = modulePath('worker/payload-converter');
const activation = modulePath('workflows/interceptors');

describe('a worker', () => {
  const options = { taskQueue: 'q', workflowsPath: 'workflows.ts' };

  test('keeps its own activities and interceptors, and gets ours too', () => {
    const interceptor = () => ({});
    const inbound = () => ({});
    const nexus = () => ({});
    const client = { workflow: [] };
    const configured = new CountersignPlugin({ tools: [pay] }).configureWorker({
      ...options,
      activities: { mail: () => 1 },
      interceptors: {
        activity: [interceptor],
        activityInbound: [inbound],
        nexus: [nexus],
        client,
        workflowModules: ['theirs'],
      },
      stickyQueueScheduleToStartTimeout: '7s',
    });
    expect(Object.keys(configured.activities!)).toEqual(
      expect.arrayContaining(['mail', 'pay', 'countersign.loadGate']),
    );
    expect(configured.interceptors).toEqual({
      activity: [expect.any(Function), interceptor, expect.any(Function)],
      activityInbound: [inbound],
      nexus: [nexus],
      client,
      workflowModules: ['theirs', activation],
    });
    expect(configured.dataConverter).toMatchObject({ payloadConverterPath: ownOfWorkers });
    expect(configured.stickyQueueScheduleToStartTimeout).toBe('7s');
  });

  test('without settings of its own gets the defaults', () => {
    const configured = new CountersignPlugin({ largePayloads: false }).configureWorker(options);
    expect(configured.interceptors).toEqual({
      activity: [expect.any(Function), expect.any(Function)],
      workflowModules: [activation],
    });
    expect(configured.dataConverter).toEqual({ payloadConverterPath: ownOfWorkers, externalStorage: unreadReferences });
    expect(configured.stickyQueueScheduleToStartTimeout).toBe('2s');
    expect(configured).not.toHaveProperty('maxHeartbeatThrottleInterval');
  });

  test.each([
    [undefined, '250ms'],
    ['1s', '1s'],
  ] as const)('with agents and the heartbeat throttle %j has %j', (given, interval) => {
    const agent = defineAgent({ name: 'clerk', instructions: '', model: scriptedModel([]) });
    const configured = new CountersignPlugin({ agents: [agent] }).configureWorker({
      ...options,
      ...(given !== undefined && { maxHeartbeatThrottleInterval: given }),
    });
    expect(configured.maxHeartbeatThrottleInterval).toBe(interval);
  });

  test('keeps its own external storage and codecs', () => {
    const externalStorage = new ExternalStorage({ drivers: [noDriver] });
    const dataConverter = { externalStorage, payloadCodecs: [] };
    const configured = new CountersignPlugin({ largePayloads: { folder: '/dev/null/none' } }).configureWorker({
      ...options,
      dataConverter,
    });
    expect(configured.dataConverter).toEqual({ ...dataConverter, payloadConverterPath: ownOfWorkers });
    expect(configured.dataConverter!.externalStorage).toBe(externalStorage);
  });

  test('with its own bundle gets no modules, which would be ignored', () => {
    const configured = new CountersignPlugin().configureWorker({ taskQueue: 'q', workflowBundle: { code: '' } });
    expect(configured.interceptors!.workflowModules).toBeUndefined();
  });

  test.each<[string, () => unknown, RegExp]>([
    [
      'a payload converter',
      () => ({ dataConverter: { payloadConverterPath: '/theirs' } }),
      /remove payloadConverterPath \(\/theirs\)/,
    ],
    ['an activity of a name of ours', () => ({ activities: { pay: () => 1 } }), /has an activity 'pay' already/],
    [
      'a gated activity with types of its input',
      () => {
        const refund = () => Promise.resolve(1);
        setActivityOptions({ typeInfo: { inputTypes: [{}] } }, refund);
        return { activities: { refund } };
      },
      /^gated activity 'refund': remove inputTypes from its type information$/,
    ],
  ])('with %s is refused in one sentence', (_name, more, message) => {
    const plugin = new CountersignPlugin({ tools: [pay], gated: { refund: {} }, workflowTypes: ['returnOrder'] });
    expect(() => plugin.configureWorker({ ...options, ...(more() as object) })).toThrow(message);
  });

  test('with a payload folder that cannot be used is refused in one sentence', () => {
    const plugin = new CountersignPlugin({ largePayloads: { folder: '/dev/null/none' } });
    expect(() => plugin.configureWorker(options)).toThrow(
      /^The payload folder \/dev\/null\/none\/default cannot be used: /,
    );
    expect(() => plugin.configureReplayWorker(options)).toThrow(/^The payload folder .+ cannot be used: /);
  });
});

describe('a bundle', () => {
  const plugin = new CountersignPlugin();
  const bundle = { workflowsPath: 'workflows.ts', workflowInterceptorModules: ['theirs', activation] };

  test('gets our modules once, after its own, and the hooks of other plugins first', () => {
    const order: string[] = [];
    const configured = plugin.configureBundler({
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
      const lean = new CountersignPlugin(leanBundle === undefined ? {} : { leanBundle });
      return lean.configureBundler(bundle).webpackConfigHook!({ devtool: 'source-map' }).devtool;
    };
    expect(sourceMapOf()).toBe('source-map');
    expect(sourceMapOf(true)).toMatch(/nosources/);
  });

  test('made by a worker gets the converter of workflows', () => {
    const { payloadConverterPath } = plugin.configureBundler({ ...bundle, payloadConverterPath: ownOfWorkers });
    expect(payloadConverterPath).toBe(own);
  });

  test('with another payload converter is refused', () => {
    expect(() => plugin.configureBundler({ ...bundle, payloadConverterPath: '/theirs' })).toThrow(
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
  [
    'a gated activity whose calls no workflow may make',
    { gated: { refund: {} }, workflowTypes: [] },
    /^gated needs workflowTypes, without which every call of 'refund' is refused: name the workflow types .* workflowTypes: \['returnOrder'\]$/,
  ],
  ['a policy that does not load', { policy: 'version: 2\n' }, /:1:/],
  [
    'a limit at which continue-as-new would never end',
    { continueAsNewAfter: { updates: 3 } },
    /continueAsNewAfter.updates must be a whole number from 10 to 1900/,
  ],
])('%s: reported when the plugin is created', (_name, options, message) => {
  expect(() => new CountersignPlugin(options)).toThrow(message);
});
