/** Renders a report on one run as a page without scripts: who could review, what they saw and decided, and what ran. */
import { escapeText } from '../core/base/text.ts';
import { escapeHtml, htmlPage } from '../text/html-page.ts';
import { resultWithheldType, type Json } from '../core/base/tool-call.ts';
import { shownPerson } from '../core/people/directory.ts';
import type { ActivityLine, AuditLine, EntryLine, HeadLine, RunLine } from './audit-line.ts';

const reportStyle = `
:root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.45; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0 1.5rem; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.8rem 0.3rem 0; border-top: 1px solid #8886; overflow-wrap: anywhere; }
th { width: 12rem; font-weight: 600; }
.journal th { width: auto; }
.journal { font-size: 0.85rem; }
section { break-inside: avoid; }
@media (max-width: 30rem) { th { width: 7rem; } }
`;

/** Renders the report from the lines of an export of one run. Every text from the run is escaped. */
export function auditReport(lines: readonly AuditLine[]): string {
  const run = lines.find((line) => line.line === 'run');
  const head = lines.find((line) => line.line === 'head');
  const entries = lines.filter((line) => line.line === 'entry');
  const activities = lines.filter((line) => line.line === 'activity');
  const calls = callsOf(entries);
  const workflowId = run?.workflowId ?? '';
  const body = [
    `<h1>Audit of run ${text(workflowId)}</h1>`,
    summary(run, head, entries),
    '<h2>Calls</h2>',
    ...(calls.length === 0 ? ['<p>The run asked for no call.</p>'] : []),
    ...calls.map((each) => callSection(each, activities)),
    oversight(entries),
    proofSection(run, head, entries.length),
    journalTable(entries),
  ];
  return `${htmlPage({ title: `Audit of run ${escapeText(workflowId)}`, style: reportStyle, body: body.join('\n') })}\n`;
}

interface Call {
  callId: string;
  entries: EntryLine[];
}

/** Groups entries by call. Those about no call, such as changes of policies, are in no group. */
function callsOf(entries: readonly EntryLine[]): Call[] {
  const calls = new Map<string, EntryLine[]>();
  for (const line of entries) {
    const { callId } = line.entry;
    if (typeof callId === 'string') calls.set(callId, [...(calls.get(callId) ?? []), line]);
  }
  return [...calls].map(([callId, found]) => ({ callId, entries: found }));
}

/** Renders what the run was. Policies and engine are those at its first entry. */
function summary(run: RunLine | undefined, head: HeadLine | undefined, entries: readonly EntryLine[]): string {
  const first = entries[0];
  return rows([
    ['Workflow', text(run?.workflowType)],
    ['Agent', text(run?.agent ?? first?.entry['agent'])],
    ['For', text(run?.caller)],
    ['Began', text(run?.startedAt)],
    ['Status', `${text(head?.status)}${head?.closedAt === undefined ? '' : `, ${text(head.closedAt)}`}`],
    ['Executions', text(head?.executions)],
    ['Policies', text(first?.context.policyDigest)],
    ['Engine', text(first?.entry['engine'])],
  ]);
}

/** Renders what the policies ruled on a call, who could answer it and did, what ran, and the outcome. */
function callSection({ callId, entries }: Call, activities: readonly ActivityLine[]): string {
  const wasAsked = entries.some(({ entry }) => entry.kind === 'opened');
  const ruled = entries.find(({ entry }) => entry.kind === 'ruling' || entry.kind === 'opened');
  const ran = activities.filter((each) => each.callId === callId);
  const tool = text(ruled?.entry['toolName'] ?? entries[0]?.entry['toolName']);
  return [
    '<section>',
    `<h3>${text(callId)} ${tool}</h3>`,
    rows([
      ['The policy', ruledSentence(ruled)],
      ...(wasAsked ? [['Entitled', entitledSentence(entries)] as const] : []),
      ...entries.filter(isAnswer).flatMap((line) => answerRows(line)),
      ...(ran.length === 0
        ? [['What ran', 'nothing'] as const]
        : ran.map((each) => ['What ran', ranSentence(each)] as const)),
      ['Outcome', outcomeSentence(entries)],
    ]),
    '</section>',
  ].join('\n');
}

function isAnswer({ entry }: EntryLine): boolean {
  return entry.kind === 'vote' || (entry.kind === 'settled' && entry['identity'] !== undefined);
}

/** Says what the policies answered to a call, why, and by which rule. `line` is the first entry with a ruling. */
function ruledSentence(line: EntryLine | undefined): string {
  if (line === undefined) return 'no ruling is recorded';
  const { entry } = line;
  const rule = entry['rule'] === null ? 'no rule, a default' : `rule ${memberText(line, 'rule')}`;
  const facts = [rule, `layer ${memberText(line, 'layer')}`, `severity ${memberText(line, 'severity')}`];
  const how = entry.kind === 'opened' ? 'asked' : text(entry['action'] ?? entry['outcome']);
  return `${how}: ${memberText(line, 'reason')} (${facts.join(', ')})`;
}

/** Lists who was asked about a call: at first, and after each change of the reviewers. */
function entitledSentence(entries: readonly EntryLine[]): string {
  const asked = entries.filter(
    ({ entry, withheld = {} }) =>
      ['opened', 'reruled', 'escalated', 'delegated'].includes(entry.kind) && ('to' in entry || 'to' in withheld),
  );
  if (asked.length === 0) return 'everybody who may answer requests of this namespace: the rule names no reviewers';
  return asked.map((line) => `${memberText(line, 'to')} (${text(line.entry.kind)} ${text(line.entry.at)})`).join('; ');
}

/** The rows of one answer: who decided, when and how, and what that person was shown. */
function answerRows(line: EntryLine): (readonly [string, string])[] {
  const { entry, context } = line;
  const { openForMs, message } = context;
  const after = openForMs === undefined ? '' : `, ${openForMs} ms after it was asked`;
  const by = message === undefined ? '' : `, by ${text(message.via)} in event ${message.eventId}`;
  const when = `at ${text(entry.at)}${after}${by}`;
  return [
    ['Decided', `${reviewerText(line)} ${verbOf(entry)} ${when}; reason: ${memberText(line, 'reason')}`],
    ['Was shown', viewedText(entry['viewed'])],
  ];
}

function reviewerText(line: EntryLine): string {
  const { reviewerId, reviewerName, identity } = line.entry;
  const isNamed = typeof reviewerId === 'string' && typeof reviewerName === 'string';
  const person = isNamed ? text(shownPerson(reviewerId, reviewerName)) : memberText(line, 'reviewerId');
  return `${person} (${text(identity)})`;
}

function verbOf({ kind, approved, outcome }: EntryLine['entry']): string {
  if (kind !== 'vote') return text(outcome);
  return approved === true ? 'approved' : 'denied';
}

/** Says what a channel reports about the card that the person saw: its digest, where, how long, in which batch. */
function viewedText(viewed: Json | undefined): string {
  if (viewed === undefined) return 'not recorded';
  const { channel, card, durationMs, batch } = (viewed ?? {}) as Record<string, Json>;
  return [
    `card ${text(card)}`,
    ...(channel === undefined ? [] : [`by ${text(channel)}`]),
    ...(durationMs === undefined ? [] : [`for ${text(durationMs)} ms`]),
    ...(batch === undefined ? [] : [`in a batch of ${text(batch)}`]),
  ].join(', ');
}

function ranSentence({ activity, state, scheduledAt, closedAt, scheduledEventId, attempt }: ActivityLine): string {
  const until = closedAt === undefined ? '' : ` until ${text(closedAt)}`;
  const tries = attempt === undefined ? '' : `, attempt ${attempt}`;
  return `${text(activity)}: ${text(state)}, from ${text(scheduledAt)}${until} (event ${scheduledEventId}${tries})`;
}

/** Says how a call was decided, and whether it ran. The last entry about each of the two counts. */
function outcomeSentence(entries: readonly EntryLine[]): string {
  const decided = entries.findLast(({ entry }) => entry['outcome'] !== undefined)?.entry;
  const ended = entries.findLast(({ entry }) => entry['ran'] !== undefined)?.entry;
  const withheld = ended?.['code'] === resultWithheldType ? ', result withheld' : '';
  const effect = ended === undefined ? '' : `; ran: ${text(ended['ran'])}${withheld}`;
  if (decided === undefined) return `open${effect}`;
  const { outcome, resultOf } = decided;
  const source = resultOf === undefined ? '' : `, by the result of call ${text(resultOf)}`;
  return `${text(outcome)}${source}${effect}`;
}

function isOutcome(...names: Json[]): (entry: EntryLine['entry']) => boolean {
  return ({ outcome }) => outcome !== undefined && names.includes(outcome);
}

/** Renders the figures for Article 14 of the EU AI Act and for four-eyes rules. */
function oversight(entries: readonly EntryLine[]): string {
  const count = (test: (entry: EntryLine['entry']) => boolean): number =>
    entries.filter(({ entry }) => test(entry)).length;
  const answersBy = (identity: string): number =>
    count((entry) => entry.kind !== 'refused' && entry['identity'] === identity);
  const answers = entries.filter(isAnswer);
  const times = answers.flatMap(({ context }) => context.openForMs ?? []).toSorted((one, other) => one - other);
  const median = times[Math.floor(times.length / 2)];
  const messages = count(({ kind }) => kind === 'message');
  const votes = count(({ kind }) => kind === 'vote');
  // Of a refused message, the journal keeps `approved` only if it was a decision after the deadline.
  const late = count(({ kind, approved }) => kind === 'refused' && approved !== undefined);
  const [verified, claimed, unnamed] = (['verified', 'claimed', 'anonymous'] as const).map(answersBy);
  return [
    '<h2>Human oversight</h2>',
    rows([
      ['Asked', `${count(({ kind }) => kind === 'opened')} requests`],
      ['Approved', `${count(isOutcome('approved'))}`],
      ['Denied or answered', `${count(isOutcome('denied', 'responded'))}`],
      ['Expired or cancelled', `${count(isOutcome('expired', 'cancelled'))}`],
      ['Identity of who decided', `${verified} verified by a key, ${claimed} claimed, ${unnamed} unnamed`],
      ['Median time to an answer', median === undefined ? 'no answer' : `${median} ms`],
      ['Decided by more than one', `${votes} votes before the one that settled a request`],
      [
        'Stopped or taken back',
        `${count(({ kind }) => kind === 'revoked')} grants revoked, ${count(({ kind }) => kind === 'policy')} changes of policy`,
      ],
      // Only a session gets further messages of its user.
      ...(messages === 0 ? [] : [['Further messages of the user', `${messages}`] as const]),
      ['Refused messages', `${count(({ kind }) => kind === 'refused')}`],
      ['Decisions after the deadline', `${late}`],
    ]),
  ].join('\n');
}

/** Compares the head that the run wrote with that of this report. If they are equal, no entry is missing or changed. */
function proofSection(run: RunLine | undefined, head: HeadLine | undefined, count: number): string {
  const recorded = head?.recorded;
  const isSame = recorded?.size === head?.size && recorded?.root === head?.root;
  const ownHead =
    recorded === undefined
      ? 'none: the run has not written one'
      : `${text(recorded.root)} over ${recorded.size} entries, in event ${recorded.eventId} of execution ${text(recorded.runId)}`;
  return [
    '<h2>Proof</h2>',
    rows([
      ['Entries', `${count}`],
      ['Head of the run itself', ownHead],
      ['Head of this report', `${text(head?.root)}${isSame ? ', the same' : ''}`],
      [
        'Check',
        `<code>countersign audit ${text(run?.workflowId)} &gt; audit.jsonl</code>, then <code>countersign audit verify audit.jsonl</code>`,
      ],
    ]),
  ].join('\n');
}

/** Renders the whole journal, with every other member of an entry in its last column. */
function journalTable(entries: readonly EntryLine[]): string {
  const lines = entries.map(({ entry, withheld = {} }) => {
    const { seq, at, kind, callId, ...rest } = entry;
    const withheldFacts = Object.keys(withheld).map((name) => [name, 'withheld'] as const);
    const facts = [...Object.entries(rest), ...withheldFacts].map(([name, value]) => `${text(name)}: ${text(value)}`);
    return `<tr><td>${text(seq)}</td><td>${text(at)}</td><td>${text(kind)}</td><td>${text(callId)}</td><td>${facts.join('; ')}</td></tr>`;
  });
  const names = ['Entry', 'At', 'Kind', 'Call', 'Facts'].map((name) => `<th>${name}</th>`);
  return ['<h2>Journal</h2>', '<table class="journal">', `<tr>${names.join('')}</tr>`, ...lines, '</table>'].join('\n');
}

function rows(pairs: readonly (readonly [string, string])[]): string {
  return ['<table>', ...pairs.map(([name, value]) => `<tr><th>${name}</th><td>${value}</td></tr>`), '</table>'].join(
    '\n',
  );
}

function memberText({ entry, withheld = {} }: EntryLine, name: string): string {
  return Object.hasOwn(withheld, name) ? 'withheld' : text(entry[name]);
}

/** Converts any value to HTML text. Invisible characters in it become visible. */
function text(value: Json | undefined): string {
  if (value === undefined || value === null) return '–';
  if (Array.isArray(value)) return value.map(text).join(', ');
  return escapeHtml(escapeText(typeof value === 'string' ? value : JSON.stringify(value)));
}
