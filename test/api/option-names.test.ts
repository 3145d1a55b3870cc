/** Every function, class and method that takes options refuses one that it does not know. They are found by their types. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { startGateway } from '../../packages/gateway/src/index.ts';
import { mcpServer } from '../../packages/mcp/src/index.ts';
import * as channels from '../../src/channels.ts';
import * as clients from '../../src/client.ts';
import * as codecs from '../../src/codec.ts';
import * as core from '../../src/index.ts';
import * as workers from '../../src/worker.ts';
import { optionTypes } from './option-types.ts';

type Sample = object;
type Call = (options: never) => unknown;

/** Types and places of objects that are no options, with the reason. */
const leftOut: [reason: string, which: RegExp][] = [
  ['no value is exported, only its types', /^(?:shownTranscript|newInput)\b/],
  [
    'a function of ours made it',
    /(?<!\(\)): (?:Agent|Tool<.*>|Toolset|ChatApp|PushApp|Session|CountersignClient|Compiled\w+)$/,
  ],
  [
    'Countersign calls its methods, with objects of its own',
    /\(\): (?:Channel|Agent|Tool<.*>|Toolset|ChatApp|PushApp|CompiledPolicy)$/,
  ],
  ['a policy, which `parsePolicy` reads strictly', /: (?:Policy|RunSide)$|^compileAssessRules\(/],
  ['says what a call is', /: (?:RuledCall|RulingContext|RulingMeter|AssessedCall|Assessment)$/],
  ['a server of others says it, in a later version of the protocol perhaps more', /: McpHints$/],
  ['an error, and its cause as JavaScript has it', /^ProblemError\(|: PolicyProblem$/],
  ['a script, whose reader refuses unknown members in words of its own', /: ScriptedTurn$/],
  ['names an agent: any object with a name does, such as a definition', /^createClient\(\)\.start\(agent\)/],
  ['a list of requests may hold the rows of the inbox', /: ReviewedRequest$/],
  ['a message: its reader, which is the run too, refuses unknown members', /\((?:decisions?|message|answer)\)[.*]*: /],
  ['the messages of a user, which the run reads strictly', /\.start\(input\)/],
  ['one of two members, and each of them is needed', /\.audit\(scope\)/],
  ['what a receiver got, perhaps with more of its request; each member is needed', /: ReceivedWebhook$/],
  ['runs in flight replay it; their workers read its input strictly', /^(?:agentRun|approvalChannels)\(/],
  ['runs in flight replay it; without it the default of Temporal holds', /^ApprovalGate\(options\)/],
  ['the execution before wrote it, and signed it', /\.load\(carried\)/],
  ['the worker refuses it: test/workflows/guarded/gated-activities.test.ts', /\.load\(options\)/],
  ['the worker compares it with its own declaration, and reads that strictly', /\.guard\(gated\)/],
  ['objects of other packages and of Node', /: (?:LanguageModelV4|StandardSchemaV1.*|Terminal(?:In|Out)put)$/],
  ['functions and a schema, all of them needed but one', /: ChannelKind<.*>$/],
  [
    'a worker or a channel file has the same channels, and checks them',
    /^(?:\w+AppOf\(channels\)|startGateway\(options\)\.channels)\.\*/,
  ],
  ['functions that are all needed', /: Authenticator$/],
  ['`readIdentityFile` made it, and reads the file strictly', /\.identity\.(?:tokens\.\*|oidc.*): /],
  ['the environment', /^modelFromEnvironment\(/],
];

const caller = { notify: () => undefined, settled: () => undefined };
const connection = Connection.lazy({ address: '127.0.0.1:1' });
const client = await clients.createClient({ connection, largePayloads: false });
const { privateKey } = clients.createReviewerKey();
const sign = { keyId: 'ann', privateKey };
const run = client.run('run-1');
const requestId = 'a'.repeat(32);
const model = core.scriptedModel([]);
const agent = core.defineAgent({ name: 'clerk', instructions: 'Help.', model });
const heartbeat = { timeoutMs: 60_000 };
const allowAddresses = ['127.0.0.1'];
const gatewayUrl = 'https://approvals.example.com';
const keys = [{ id: 'a', key: randomBytes(32) }];
const common = {
  routes: { requests: [{ tool: 'pay', channels: ['desk'] }] },
  channels: { desk: { notify: () => undefined, caller } },
  quietHours: { from: '22:00', to: '06:00', timeZone: 'UTC' },
  quietHoursOf: { desk: { timeZone: 'UTC', workdays: ['mon' as const] } },
  gated: { run: { risk: 'destructive', subject: { argument: 'command', shell: true }, heartbeat } },
  workflowTypes: ['order'],
  advisors: { second: { model, instructions: 'Doubt.' } },
  continueAsNewAfter: { updates: 100 },
  largePayloads: { folder: '/dev/null/none' },
  attributes: { tags: false },
};
const template = { url: 'http://127.0.0.1/x' };
const slack = { name: 'desk', token: 'xoxb-1', channel: 'C0123456789', gatewayUrl };
const vapid = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }).d!;

/** By function and parameter: a call, and options that it takes. Together they hold every object that is found. */
const samples: Record<string, [Call, ...Sample[]]> = {
  'agentTool(options)': [(options) => core.agentTool(agent, options), {}],
  'defineAgent(options)': [
    core.defineAgent,
    { name: 'clerk', instructions: 'Help.', model, modelCall: { maxAttempts: 1 }, files: { types: ['image/png'] } },
  ],
  'defineTool(options)': [
    core.defineTool,
    {
      name: 'bash',
      description: 'Runs.',
      input: z.object({ command: z.string() }),
      risk: 'destructive',
      subject: { argument: 'command', shell: true },
      heartbeat,
      execute: () => 'done',
    },
  ],
  'defineToolset(options)': [core.defineToolset, { name: 'files', open: () => undefined }],
  'openAICompatible(options)': [core.openAICompatible, { baseURL: 'http://127.0.0.1', model: 'm' }],
  'parsePolicy(options)': [
    (options) => {
      const parsed = core.parsePolicy('rules: []', options);
      if ('problems' in parsed) throw new Error(parsed.problems[0]!.message);
    },
    {},
  ],
  'lintPolicy(options)': [
    (options) => core.lintPolicy(core.mergeRunSide(undefined, undefined) as never, options),
    { known: { tools: new Map(), agents: [] } },
  ],
  'createWorker(options)': [workers.createWorker, common],
  'CountersignPlugin(options)': [(options) => new workers.CountersignPlugin(options), common],
  'verifyAudit(options)': [(options) => clients.verifyAudit([], options), {}],
  'cleanPayloads(options)': [(options) => clients.cleanPayloads(client.session, options), {}],
  'createClient(options)': [
    clients.createClient,
    { connection, largePayloads: { folder: '/dev/null/none' }, attributes: { tags: false } },
  ],
  'createClient().start(options)': [(options) => client.start('clerk', 'Go', options), { caller: { userId: 'ann' } }],
  'createClient().start().result(options)': [(options) => run.result(options), {}],
  'createClient().start().cancel(options)': [(options) => run.cancel(options), {}],
  'createClient().runs(filter)': [(options) => client.runs(options), {}],
  'createClient().approvals().list(filter)': [(options) => client.approvals('pay').list(options), {}],
  'createClient().approvals().get(options)': [(options) => client.approvals('pay').get(requestId, options), {}],
  'createClient().approvals.list(filter)': [(options) => client.approvals.list(options), {}],
  'createClient().approvals.get(options)': [(options) => client.approvals.get(requestId, options), {}],
  'createClient().decide(options)': [(options) => client.decide({ requestId, approved: true }, options), { sign }],
  'createClient().decideAll(options)': [(options) => client.decideAll([], { approved: true }, options), { sign }],
  'createClient().extend(options)': [
    (options) => client.extend({ requestId, until: '2040-01-01T00:00:00Z' }, options),
    { sign },
  ],
  'createClient().delegate(options)': [
    (options) => client.delegate({ requestId, by: 'ann', to: 'bob' }, options),
    { sign },
  ],
  'createClient().delegateAll(options)': [(options) => client.delegateAll({ by: 'ann', to: 'bob' }, options), { sign }],
  'createClient().revoke(options)': [
    (options) => client.revoke('run-1', { grantIds: 'all' } as never, options),
    { sign },
  ],
  'createClient().setPolicy(options)': [(options) => client.setPolicy('run-1', { mode: 'default' }, options), { sign }],
  'createClient().setPolicyOfRuns(options)': [
    (options) => client.setPolicyOfRuns({ mode: 'default' }, options),
    { sign },
  ],
  'createClient().message(options)': [(options) => client.message('run-1', { content: 'And?' }, options), {}],
  'createClient().cancel(options)': [(options) => client.cancel('run-1', options), {}],
  'createClient().events(options)': [(options) => client.events('run-1', options), {}],
  'createClient().audit(options)': [(options) => client.audit('run-1', options), {}],
  'createClient().check(options)': [(options) => client.check(options), {}],
  'CountersignClientPlugin(options)': [
    (options) => new clients.CountersignClientPlugin(options),
    { largePayloads: { folder: '/dev/null/none' } },
  ],
  'signDecision(options)': [
    (options) => clients.signDecision({ requestId, approved: true }, options),
    { ...sign, workflowId: 'run-1', namespace: 'default' },
  ],
  'signMessage(options)': [
    (options) => clients.signMessage('revoke', {}, options),
    { ...sign, workflowId: 'run-1', namespace: 'default' },
  ],
  'approvalQueue(options)': [(options) => channels.approvalQueue(client, options), { sign }],
  'autoApprove(options)': [channels.autoApprove, {}],
  'autoDeny(options)': [channels.autoDeny, {}],
  'callback(options)': [(options) => channels.callback(() => true, options), {}],
  'conditional(options)': [channels.conditional, { below: 'high', otherwise: { resolve: () => true, caller } }],
  'consoleChannel(options)': [channels.consoleChannel, {}],
  'toChannel(source)': [channels.toChannel, { resolve: () => true, caller }],
  'readChannels(options)': [(options) => channels.readChannels('channels: {}', options), {}],
  'webhookChannel(options)': [
    channels.webhookChannel,
    {
      url: 'http://127.0.0.1/x',
      secret: 'the secret of this test',
      allowAddresses,
      legacySignature: { header: 'x-signature', over: 'body' },
      tls: { ca: 'none' },
    },
  ],
  'signWebhook(signed)': [
    (options) => channels.signWebhook('the secret of this test', options),
    { id: 'ans_1', body: '' },
  ],
  'slackChannel(settings)': [channels.slackChannel, { ...slack, signingSecret: 's' }, { ...slack, appToken: 'xapp-1' }],
  'webPushChannel(options)': [channels.webPushChannel, { subject: 'mailto:a@b.de', privateKey: vapid, gatewayUrl }],
  'emailChannel(options)': [
    channels.emailChannel,
    {
      transport: { host: 'localhost' },
      from: 'gate@example.com',
      gatewayUrl,
      people: { ann: { address: 'ann@example.com' } },
    },
  ],
  'httpTemplateChannel(options)': [
    channels.httpTemplateChannel,
    { notify: template, settled: template, allowAddresses },
  ],
  'encrypted(options)': [codecs.encrypted, { keys }, { keys: { file: '/dev/null/none' } }],
  'EncryptionCodec(options)': [
    (options) => new codecs.EncryptionCodec(options),
    { keys },
    { keys: { file: '/dev/null/none' } },
  ],
  'codecServer(options)': [
    (options) => codecs.codecServer(options),
    { codec: new codecs.EncryptionCodec({ keys }), uiOrigin: 'http://127.0.0.1:8233', authorize: 'Bearer one' },
  ],
  'RemoteCodec(options)': [
    (options) => new codecs.RemoteCodec(options),
    { endpoint: 'http://127.0.0.1', namespace: 'default' },
  ],
  'startGateway(options)': [
    startGateway,
    { client, port: 0, identity: { tokens: [], sessionMs: 1 }, signer: sign, limits: {} },
  ],
  'mcpServer(options)': [mcpServer, { name: 'files', command: 'files' }, { name: 'files', url: 'http://127.0.0.1' }],
};

/** The objects at a way through a sample. */
function objectsAt(value: unknown, [first, ...rest]: readonly string[]): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  if (first === undefined) return Array.isArray(value) ? [] : [value as Record<string, unknown>];
  const inner = first === '*' ? Object.values(value) : [(value as Record<string, unknown>)[first]];
  return inner.flatMap((each) => objectsAt(each, rest));
}

/** The sample with one more member in the object at a place. */
function withMember(value: unknown, [first, ...rest]: readonly string[], name: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (first === undefined) return { ...value, [name]: 1 };
  const changed = Object.entries(value).map(([key, each]) => [
    key,
    first === '*' || key === first ? withMember(each, rest, name) : each,
  ]);
  return Array.isArray(value) ? changed.map(([, each]) => each as unknown) : Object.fromEntries(changed);
}

async function refusal(call: Call, options: unknown): Promise<string> {
  try {
    await call(options as never);
  } catch (error) {
    return (error as Error).message;
  }
  return 'it was accepted';
}

const used = new Set<RegExp>();
const found = optionTypes((type, place) => {
  const reasons = leftOut.filter(([, which]) => which.test(`${place}: ${type}`));
  for (const [, which] of reasons) used.add(which);
  return reasons.length > 0;
});

test('many are found', () => expect(found.length).toBeGreaterThan(100));

test('each reason to leave something out is about something', () => {
  expect(leftOut.filter(([, which]) => !used.has(which))).toEqual([]);
});

test.each(found)('$place refuses a misspelt member', async ({ place, parameter, path, members }) => {
  const [call, ...all] = samples[parameter] ?? [];
  const fitting = all.filter((sample) => objectsAt(sample, path).length > 0);
  expect(fitting, `a sample with ${place}`).not.toEqual([]);
  const member = members.at(-1)!;
  for (const sample of fitting) {
    const message = await refusal(call!, withMember(sample, path, `${member}z`));
    expect(message).toMatch(new RegExp(`unknown option '${member}z'(?:: did you mean '|; known are )`));
  }
});
