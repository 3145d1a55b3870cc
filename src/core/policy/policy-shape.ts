import type { AssessRule } from '../assess/assessment.ts';
import { either, oneOf, type Shape, type ShapeOf } from '../base/shape.ts';
import { severities } from '../base/tool-call.ts';
import type { Person } from '../people/directory.ts';
import type { Revoked } from '../people/revoked.ts';
import { actions, modes } from './modes.ts';
import {
  type AdvisorSettings,
  type ApprovalSettings,
  type AskSettings,
  type ModelPrice,
  type Policy,
  type Prices,
  type RedactSettings,
  type ReviewerKeyEntry,
  type RunLimit,
  type Rule,
} from './policy.ts';

const advisor = { name: 'string', 'timeoutMs?': 'number' } satisfies ShapeOf<AdvisorSettings>;
const duration = either('number', oneOf(null));

const ask = {
  'reviewers?': 'texts',
  'quorum?': 'number',
  'oneOfEach?': 'texts',
  'timeoutMs?': duration,
  'warnBeforeMs?': 'number',
  'remindMs?': 'number',
  'escalate?': [{ afterMs: 'number', to: 'texts' }],
  'advisor?': either(advisor, oneOf(false)),
} satisfies ShapeOf<AskSettings>;

const rule = {
  'id?': 'string',
  'agent?': 'string',
  pattern: 'string',
  'args?': { '*': 'string' },
  'when?': 'string',
  action: oneOf(...actions),
  'reason?': 'string',
  'ask?': ask,
} satisfies ShapeOf<Rule>;

const approval = {
  'timeoutMs?': duration,
  'maxTimeoutMs?': duration,
  'minRemindMs?': 'number',
  'maxPending?': 'number',
  'maxRetriesAfterDeny?': 'number',
  'maxIrreversiblePerRun?': 'number',
  'show?': either({ '*': 'texts' }, oneOf(false)),
} satisfies ShapeOf<ApprovalSettings>;

const assess = {
  'id?': 'string',
  pattern: 'string',
  'args?': { '*': 'string' },
  severity: oneOf(...severities),
  'reason?': 'string',
  'affected?': 'texts',
  'recommend?': 'string',
} satisfies ShapeOf<AssessRule>;

const limit = { 'ask?': 'number', 'end?': 'number' } satisfies ShapeOf<RunLimit>;
const price = { input: 'number', 'cachedInput?': 'number', output: 'number' } satisfies ShapeOf<ModelPrice>;
const key = { publicKey: 'string', 'signsFor?': 'texts' } satisfies ShapeOf<ReviewerKeyEntry>;
const person = {
  groups: 'texts',
  keys: 'texts',
  'name?': 'string',
  'also?': 'texts',
  'away?': [{ fromAt: 'string', untilAt: 'string', deputy: 'string' }],
} satisfies ShapeOf<Person>;

/** The shape of a policy: the members on whose type code relies, so that no policy makes a ruling throw (I5). */
export const policyShape: Shape = {
  version: oneOf(1),
  'mode?': oneOf(...modes),
  rules: [rule],
  riskDefaults: { '*': oneOf(...actions) },
  approval,
  'limits?': { '*': limit },
  'prices?': { currency: 'string', models: { '*': price } } satisfies ShapeOf<Prices>,
  'assess?': [assess],
  'redact?': {
    'kinds?': 'texts',
    patterns: [{ name: 'string', pattern: 'string' }],
    'also?': 'texts',
  } satisfies ShapeOf<RedactSettings>,
  'directory?': { people: { '*': person } },
  'advisor?': advisor,
  'reviewerKeys?': { '*': key },
  'revoked?': { keys: 'texts', people: 'texts' } satisfies ShapeOf<Revoked>,
} satisfies ShapeOf<Policy>;
