import { isObject } from '../../core/base/json.ts';
import type { Json, JsonObject } from '../../core/base/tool-call.ts';
import { policyInvalid } from '../../channels/channel-kind.ts';
import { visibleEscape, visibleUnit } from '../../text/visible-text.ts';
import type { ChannelRequest, ChannelStep } from '../../channels/channel.ts';
import type { Settlement } from '../../contract.ts';
import { deadlineText } from '../../text/instant-text.ts';
import type { Card } from '../../card/card.ts';
import { cardOf } from '../../card/card-of.ts';
import { shortRequest, shortSentence } from '../../channels/outgoing/not-taken.ts';

const placeholder = /\{\{([^{}]*)\}\}/g;
const path = /^[A-Za-z_]\w*(?:\.[\w-]+)*$/;

/** The names that placeholders may use. Names in `deep` may be followed by a path to a member, names in `whole` not. */
interface Known {
  deep: readonly string[];
  whole?: readonly string[];
}

const longestCut = 100_000;

/**
 * Validates the placeholders of a template. Throws `policy_invalid` for one that is not closed, that has an unknown
 * name or filter, or that has a filter without `takesFilters`.
 */
export function checkTemplate(
  template: Json,
  known: Known,
  place: string,
  { takesFilters = false }: { takesFilters?: boolean } = {},
): void {
  for (const text of textsOf(template)) {
    for (const [written, inside] of text.matchAll(placeholder)) {
      const problem = placeholderProblem(inside!, known, takesFilters);
      if (problem !== undefined) throw policyInvalid(`${place} has the placeholder ${written}${problem}`);
    }
    if (/\{\{|\}\}/.test(text.replaceAll(placeholder, ''))) {
      throw policyInvalid(`${place} has a placeholder that does not end.`);
    }
  }
}

/** Says what is wrong with a placeholder, as the end of a sentence that names the placeholder; undefined if nothing. */
function placeholderProblem(inside: string, { deep, whole = [] }: Known, takesFilters: boolean): string | undefined {
  const { name, filter } = partsOf(inside);
  if (filter !== undefined && !takesFilters) return ' with a filter; filters are for bodies only.';
  if (filter !== undefined && filterOf(filter) === undefined) {
    const filters = `a filter is a length from 1 to ${longestCut}, as in {{${name}:130}}, or other names of values, as in {{${name}:low=P4,high=P2}}`;
    return ` with the unknown filter '${filter}'; ${filters}.`;
  }
  const isKnown = whole.includes(name) || deep.some((each) => name === each || name.startsWith(`${each}.`));
  if (path.test(name) && isKnown) return undefined;
  return `, which stands for nothing; known are ${[...whole, ...deep].join(', ')}.`;
}

/**
 * Fills a JSON template. A text that is nothing but a placeholder becomes its value, of any type, or null. Values are
 * never parsed as JSON or as placeholders, so they cannot add members.
 */
export function fillTemplate(template: Json, values: JsonObject): Json {
  if (typeof template === 'string') {
    const [, inside] = /^\{\{([^{}]*)\}\}$/.exec(template) ?? [];
    return inside === undefined ? fillText(template, values) : (placeholderValue(inside, values) ?? null);
  }
  if (Array.isArray(template)) return template.map((each) => fillTemplate(each, values));
  if (!isObject(template)) return template;
  // Build the object from entries, because an assignment to `__proto__` creates no member.
  return Object.fromEntries(Object.entries(template).map(([name, each]) => [name, fillTemplate(each, values)]));
}

/** Replaces the placeholders of a text by their values, each converted by `encode`. */
export function fillText(
  template: string,
  values: JsonObject,
  encode: (value: string) => string = (value) => value,
): string {
  return template.replaceAll(placeholder, (_, inside: string) =>
    encode(valueText(placeholderValue(inside, values) ?? '')),
  );
}

function valueText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function placeholderValue(inside: string, values: JsonObject): Json | undefined {
  const { name, filter } = partsOf(inside);
  const value = memberOf(values, name);
  if (filter === undefined || value === undefined || value === null) return value;
  return filterOf(filter)?.(valueText(value)) ?? value;
}

/** Splits a placeholder `NAME:FILTER`. `NAME|FILTER` gets a filter that `filterOf` does not know, so it is refused. */
function partsOf(inside: string): { name: string; filter?: string } {
  const at = inside.search(/[:|]/);
  if (at === -1) return { name: inside.trim() };
  const filter = inside.slice(at + 1).trim();
  return { name: inside.slice(0, at).trim(), filter: inside[at] === '|' ? `|${filter}` : filter };
}

/** Returns a filter's function: `130` cuts a text, `low=P4,high=P2` replaces names. Undefined if it is unknown. */
function filterOf(written: string): ((text: string) => string) | undefined {
  const most = /^[1-9]\d{0,5}$/.test(written) ? Number(written) : Infinity;
  if (most <= longestCut) return (text) => cutText(text, most);
  const pairs = written.split(',').map((each) => /^\s*([\w-]+)=([\w-]+)\s*$/.exec(each));
  if (pairs.includes(null)) return undefined;
  const names = new Map(pairs.map((pair) => [pair![1]!, pair![2]!]));
  return (text) => names.get(text) ?? text;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** Longer than any escape, so that `cutText` also recognizes an escape that goes past the limit. */
const margin = 16;

/**
 * Cuts a text to at most `most` UTF-16 code units, and ends it with `…`. An escape such as `\u{202E}` stays whole or is
 * left out, and so is a character with its combining marks.
 */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = text.slice(0, most + margin);
  let end = 0;
  for (const unit of unitsOf(head)) {
    // Not `>`, to leave room for `…`.
    if (end + unit.length >= most) break;
    end += unit.length;
  }
  return `${head.slice(0, end)}…`;
}

/** Splits a text into escapes, and the graphemes between them. */
function* unitsOf(text: string): Generator<string> {
  let at = 0;
  for (const escape of text.matchAll(visibleEscape)) {
    for (const { segment } of graphemes.segment(text.slice(at, escape.index))) yield segment;
    yield escape[0];
    at = escape.index + escape[0].length;
  }
  for (const { segment } of graphemes.segment(text.slice(at))) yield segment;
}

/** The value at a path such as `request.toolName`; undefined if there is none. */
export function memberOf(values: Json, name: string): Json | undefined {
  let value: Json | undefined = values;
  for (const part of name.trim().split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as JsonObject)[part];
  }
  return value;
}

function textsOf(template: Json): string[] {
  if (typeof template === 'string') return [template];
  if (typeof template !== 'object' || template === null) return [];
  return [...(Array.isArray(template) ? [] : Object.keys(template)), ...Object.values(template).flatMap(textsOf)];
}

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
  escalated: true,
  accounts: true,
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

export interface TemplateFacts {
  request: ChannelRequest;
  inboxUrl?: string;
  key: string;
  attempt: number;
  sent?: Json;
  step?: ChannelStep;
  settlement?: Settlement;
  secrets: Readonly<Record<string, string>>;
  /** True if the service has refused the message at full length. */
  isShort?: boolean;
}

/** The names that the body may use: the request, why the message is sent, and the secrets. */
export function knownInBody(message: 'notify' | 'settled', secrets: readonly string[]): Known {
  const why = message === 'notify' ? ['step.kind', 'step.to'] : settlementMembers.map((name) => `settlement.${name}`);
  const deep = [...requestMembers.map((name) => `request.${name}`), ...why, ...always];
  const whole = [
    'request',
    ...(message === 'settled' ? ['settlement'] : []),
    ...secrets.map((each) => `secrets.${each}`),
  ];
  return { deep, whole };
}

/** The names that the URL and the headers may use. None of them stands for text that a model writes. */
export function knownOutside(secrets: readonly string[]): Known {
  const own = ['request.requestId', 'key', 'sent.id'];
  return { deep: [], whole: [...own, ...secrets.map((each) => `secrets.${each}`)] };
}

/** The values of placeholders, by the first part of the placeholder's name. `isShort` omits long texts. */
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

/** Returns the card's sentence in at most 1,000 characters, with `…` if it is cut, but not within an escape. */
export function sentenceOf({ sentence: { text, hidden: cutCharacters = 0 } }: Card): string {
  if (text.length <= longestSentence && cutCharacters === 0) return text;
  let shown = '';
  for (const unit of text.match(visibleUnit) ?? []) {
    // Not `>`, to leave room for `…`.
    if (shown.length + unit.length >= longestSentence) break;
    shown += unit;
  }
  return `${shown}…`;
}

function shortSettlement(settlement: Settlement): Settlement {
  return { ...settlement, reason: undefined, response: undefined, edited: undefined };
}
