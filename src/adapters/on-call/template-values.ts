import type { ChannelRequest, ChannelStep } from '../../channels/channel.ts';
import type { Settlement } from '../../contract.ts';
import type { Json, JsonObject } from '../../core/base/tool-call.ts';
import { deadlineText } from '../../text/instant-text.ts';
import { visibleUnit } from '../../text/visible-text.ts';
import type { Card } from '../../card/card.ts';
import { cardOf } from '../../card/card-of.ts';
import { shortRequest, shortSentence } from '../../channels/outgoing/not-taken.ts';
import type { Known } from './template.ts';

const requestMembers = Object.keys({
  requestId: true,
  workflowId: true,
  toolName: true,
  sentence: true,
  arguments: true,
  riskLevel: true,
  assessment: true,
  agentName: true,
  callerUserId: true,
  contextSummary: true,
  rule: true,
  rulePlace: true,
  reason: true,
  requestedAt: true,
  deadline: true,
  digest: true,
  lineage: true,
  replaces: true,
  metadata: true,
  advice: true,
  reviewers: true,
  shown: true,
  redacted: true,
  argumentNames: true,
  argumentBytes: true,
  shownArguments: true,
  notShown: true,
  settled: true,
  votes: true,
  approvals: true,
  approvers: true,
  people: true,
  cannotBeApproved: true,
  delegations: true,
  always: true,
  schema: true,
  preview: true,
  ranBefore: true,
  deniedBefore: true,
  userMessages: true,
  channels: true,
} satisfies Record<keyof ChannelRequest, true>);

const settlementMembers = Object.keys({
  outcome: true,
  runs: true,
  reason: true,
  reviewerId: true,
  reviewerName: true,
  identity: true,
  decisionId: true,
  viewed: true,
  settledAt: true,
  by: true,
  byId: true,
  response: true,
  edited: true,
} satisfies Record<keyof Settlement, true>);

const always = ['sentence', 'deadline', 'inboxUrl', 'key', 'attempt', 'sent.id'];
const longestSentence = 1_000;

/** The values for templates of one message. */
export interface TemplateFacts {
  request: ChannelRequest;
  inboxUrl?: string;
  key: string;
  attempt: number;
  sent?: Json;
  step?: ChannelStep;
  settlement?: Settlement;
  secrets: Readonly<Record<string, string>>;
  /** True: the service has refused the message at full length. */
  isShort?: boolean;
}

/** The names that the body of a message may use. */
export function knownInBody(message: 'notify' | 'settled', secrets: readonly string[]): Known {
  const own = message === 'notify' ? ['step.kind', 'step.to'] : settlementMembers.map((each) => `settlement.${each}`);
  const deep = [...requestMembers.map((each) => `request.${each}`), ...own, ...always];
  const whole = [
    'request',
    ...(message === 'settled' ? ['settlement'] : []),
    ...secrets.map((each) => `secrets.${each}`),
  ];
  return { deep, whole };
}

/** The names that the URL and the headers of a message may use: no text written by a model. */
export function knownOutside(secrets: readonly string[]): Known {
  const own = ['request.requestId', 'key', 'sent.id'];
  return { deep: [], whole: [...own, ...secrets.map((each) => `secrets.${each}`)] };
}

/** The values that placeholders may name. `isShort`: with the texts of the request shortened. */
export function templateValues({
  inboxUrl = '',
  sent = null,
  step,
  settlement,
  isShort = false,
  ...facts
}: TemplateFacts): JsonObject {
  const { request } = facts;
  const values = {
    ...facts,
    ...(isShort && { request: shortRequest(request) }),
    sentence: isShort ? shortSentence(request) : sentenceOf(cardOf(request)),
    deadline: request.deadline === null ? 'no deadline' : deadlineText(request.deadline, Date.now()),
    inboxUrl,
    sent,
    ...(step !== undefined && { step }),
    ...(settlement !== undefined && { settlement: isShort ? shortSettlement(settlement) : settlement }),
  };
  return values as unknown as JsonObject;
}

/** The call's effect, in one line of at most 1,000 characters. No escape is cut in two. */
export function sentenceOf({ sentence: { text, hidden = 0 } }: Card): string {
  if (text.length <= longestSentence && hidden === 0) return text;
  let shown = '';
  for (const unit of text.match(visibleUnit) ?? []) {
    if (shown.length + unit.length >= longestSentence) break;
    shown += unit;
  }
  return `${shown}…`;
}

function shortSettlement(settlement: Settlement): Settlement {
  return { ...settlement, reason: undefined, response: undefined, edited: undefined };
}
