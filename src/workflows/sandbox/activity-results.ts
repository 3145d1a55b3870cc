/**
 * Replaces malformed results of activities by failures, which every caller handles. Anyone who may write to the
 * namespace can complete an activity with any result, and a malformed one would make workflow code throw and its task
 * fail for ever (I5). The SDK must not see the result before, because a later check would change the order of the rest.
 */
import { type ActivateInput, ActivityFailure, type WorkflowOutboundCallsInterceptor } from '@temporalio/workflow';
import type { CallModelResult, ModelCall } from '../../activities/model-turn.ts';
import type { SentMessage } from '../../channels/activities/call-channel.ts';
import type { LookedChannel, LookedRequest } from '../../channels/activities/look-at-requests.ts';
import { activityNames, type Receipt } from '../../contract.ts';
import { argumentFacts, checkedArguments } from '../../core/assess/argument-facts.ts';
import type { ProblemCode } from '../../core/base/problem.ts';
import { either, fits, oneOf, type Shape, type ShapeOf } from '../../core/base/shape.ts';
import { risks, severities } from '../../core/base/tool-call.ts';
import type { ChannelRoutes } from '../../core/people/channel-routes.ts';
import type { GateConfig } from '../../core/policy/gate-config.ts';
import type { GatedDefinition } from '../../core/policy/gated-activity.ts';
import { policyShape } from '../../core/policy/policy-shape.ts';
import type { AgentConfig, RunConfig } from '../../core/policy/run-config.ts';
import { payloadConverter } from './payload-converter.ts';
import { runLocal } from './run-local.ts';

const nullable = (shape: Shape): Shape => either(shape, oneOf(null));
const absent = oneOf(undefined);
/** A time in milliseconds that a `Date` can express. */
const instant: Shape = (value) => typeof value === 'number' && value >= 0 && value <= 8.64e15;

const definition = {
  name: 'string',
  description: 'string',
  schema: {},
  risk: oneOf(...risks, 'unknown'),
  'subject?': 'string',
  'beside?': 'texts',
  'show?': 'texts',
  heartbeatTimeoutMs: nullable('number'),
  timeoutMs: 'number',
  'previewTimeoutMs?': 'number',
  definition: 'string',
  'agent?': 'string',
  'handoff?': 'string',
  'argumentNames?': 'texts',
} satisfies ShapeOf<GatedDefinition>;

const agent = {
  agent: 'string',
  instructions: 'string',
  tools: [definition],
  maxTurns: 'number',
  'modelCall?': { '*': 'number' },
  'files?': { types: 'texts', hosts: 'texts' },
  'run?': policyShape,
} satisfies ShapeOf<AgentConfig>;

/** The common members of the configs of agent runs and of custom workflows. */
const config = {
  agent: 'string',
  'ceiling?': policyShape,
  'ceilingLines?': { file: 'string', lines: ['number'] },
  'run?': policyShape,
  engine: 'number',
  auditSalt: 'string',
  continueAsNewAfter: { historyEvents: 'number', updates: 'number' },
  'attributes?': { ids: 'string', tags: nullable('string'), due: 'string' },
  'routes?': {
    channels: { '*': { 'timeoutMs?': 'number' } },
    default: 'texts',
    'reviewers?': { '*': 'texts' },
    'requests?': [{ 'tool?': 'string', 'agent?': 'string', 'minSeverity?': oneOf(...severities), channels: 'texts' }],
  } satisfies ShapeOf<ChannelRoutes>,
} satisfies ShapeOf<RunConfig & GateConfig>;

const channel = { name: 'string', delayMs: 'number' } satisfies ShapeOf<LookedChannel>;

/** The results on whose form workflow code relies. Other results are read where they are used. */
const shapes: Readonly<Record<string, Shape>> = {
  [activityNames.loadAgent]: {
    ...config,
    ...agent,
    'parents?': [policyShape],
    'handoffs?': [agent],
    'sizeLimits?': { '*': 'number' },
  } satisfies ShapeOf<RunConfig>,
  [activityNames.loadGate]: { ...config, gated: [definition] } satisfies ShapeOf<GateConfig>,
  [activityNames.callModel]: {
    text: 'string',
    calls: [
      {
        id: 'string',
        tool: 'string',
        'args?': {},
        'problem?': 'string',
        ...argumentFacts,
      } satisfies ShapeOf<ModelCall>,
    ],
    usage: {},
    'model?': 'string',
    finishReason: 'string',
    'providerTurn?': {},
    'structuredOutput?': {},
    'outputProblem?': 'string',
    'contextSummary?': 'string',
  } satisfies ShapeOf<CallModelResult>,
  // A problem must come without `args`, because code that looks for `args` first would trust the other members.
  [activityNames.checkEdit]: either({ problem: 'string', args: absent }, { problem: absent, ...checkedArguments }),
  [activityNames.arbitrate]: { '*': instant },
  [activityNames.readPolicy]: either({ policy: policyShape }, { policy: absent, problem: 'string' }),
  [activityNames.readParents]: either({ isForged: oneOf(true) }, { policies: [policyShape], atMs: instant }),
  [activityNames.lookAtRequests]: [
    {
      requestId: 'string',
      state: oneOf('open', 'settled'),
      'deadlineMs?': nullable(instant),
      'userMessages?': 'number',
      'facts?': {},
      names: 'texts',
      channels: [channel],
      'tagsName?': 'string',
    } satisfies ShapeOf<LookedRequest>,
  ],
  [activityNames.channelDecide]: {
    accepted: oneOf(true, false),
    'outcome?': 'string',
    'code?': 'string',
    message: 'string',
  } satisfies ShapeOf<Receipt>,
  [activityNames.channelNotify]: {
    'rest?': { why: 'string', 'retryAfterMs?': 'number' },
  } satisfies ShapeOf<SentMessage>,
  [activityNames.channelSettled]: {},
};

/** The names of scheduled activities whose results must be checked, by the sequence number of their command. */
const scheduled = (): Map<number, string> => runLocal('results', () => ({ names: new Map<number, string>() })).names;

export const noteActivities: WorkflowOutboundCallsInterceptor = {
  scheduleActivity(input, next) {
    if (Object.hasOwn(shapes, input.activityType)) scheduled().set(input.seq, input.activityType);
    return next(input);
  },
};

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

/** `RETRY_STATE_NON_RETRYABLE_FAILURE` of Temporal's API. */
const notRetried = 2;

/** The failure for a malformed result has this identity in place of a worker's, by which `isMalformed` knows it. */
const identity = 'malformed result';

/** True if an activity failed only because its result was malformed. Another try of the activity may succeed. */
export function isMalformed(error: unknown): boolean {
  return error instanceof ActivityFailure && error.identity === identity;
}

/** Makes each malformed result a failure of its activity. */
export function failMalformed(jobs: readonly Job[]): void {
  for (const { resolveActivity } of jobs) {
    const seq = resolveActivity?.seq ?? 0;
    const name = scheduled().get(seq);
    if (name === undefined || resolveActivity == null) continue;
    scheduled().delete(seq);
    const { completed } = resolveActivity.result ?? {};
    if (completed == null) continue;
    const value: unknown = completed.result == null ? undefined : payloadConverter.fromPayload(completed.result);
    if (fits(value, shapes[name]!)) continue;
    const message = `The result of activity '${name}' has a form that no worker gives it`;
    const type: ProblemCode = name === activityNames.callModel ? 'model_output_invalid' : 'internal';
    const cause = { message, applicationFailureInfo: { type, nonRetryable: true } };
    const activityFailureInfo = { activityType: { name }, activityId: `${seq}`, retryState: notRetried, identity };
    resolveActivity.result = { failed: { failure: { message, activityFailureInfo, cause } } };
  }
}
