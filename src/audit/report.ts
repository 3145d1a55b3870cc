/** Renders a report on one run as a page without scripts: who could review, what they saw and decided, and what ran. */
import { escapeText } from '../core/base/text.ts';
import { escapeHtml, htmlPage } from '../text/html-page.ts';
import { resultWithheldType, type Json } from '../core/base/tool-call.ts';
import { shownPerson } from '../core/people/directory.ts';
import type { ActivityLine, AuditLine, EntryLine, HeadLine, RunLine } from './audit-line.ts';

/** The style sheet of the report, for paper, dark screens and telephones. */
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

function callsOf(entries: readonly EntryLine[]): Call[] {
  const calls = new Map<string, EntryLine[]>();
  for (const line of entries) {
    const { callId } = line.entry;
    if (typeof callId === 'string') calls.set(callId, [...(calls.get(callId) ?? []), line]);
  }
  return [...calls].map(([callId, found]) => ({ callId, entries: found }));
}

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

function callSection({ callId, entries }: Call, activities: readonly ActivityLine[]): string {
  const asked = entries.filter(({ entry }) => entry.kind === 'opened');
  const [ruled] = entries.filter(({ entry }) => entry.kind === 'ruling' || entry.kind === 'opened');
  const ran = activities.filter((each) => each.callId === callId);
  const tool = text(ruled?.entry['toolName'] ?? entries[0]?.entry['toolName']);
  return [
    '<section>',
    `<h3>${text(callId)} ${tool}</h3>`,
    rows([
      ['The policy', ruledSentence(ruled)],
      ...(asked.length === 0 ? [] : [['Entitled', entitledSentence(entries)] as const]),
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

function ruledSentence(line: EntryLine | undefined): string {
  if (line === undefined) return 'no ruling is recorded';
  const { entry } = line;
  const rule = entry['rule'] === null ? 'no rule, a default' : `rule ${memberText(line, 'rule')}`;
  const facts = [rule, `layer ${memberText(line, 'layer')}`, `severity ${memberText(line, 'severity')}`];
  const how = entry.kind === 'opened' ? 'asked' : text(entry['action'] ?? entry['outcome']);
  return `${how}: ${memberText(line, 'reason')} (${facts.join(', ')})`;
}

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
  const { channel, card, durationMs, batch } = (entry['viewed'] ?? {}) as Record<string, Json>;
  const verb = entry.kind === 'vote' ? (entry['approved'] === true ? 'approved' : 'denied') : text(entry['outcome']);
  const { reviewerId, reviewerName } = entry;
  const isNamed = typeof reviewerId === 'string' && typeof reviewerName === 'string';
  const person = isNamed ? text(shownPerson(reviewerId, reviewerName)) : memberText(line, 'reviewerId');
  const who = `${person} (${text(entry['identity'])})`;
  const seen =
    entry['viewed'] === undefined
      ? 'not recorded'
      : [
          `card ${text(card)}`,
          ...(channel === undefined ? [] : [`by ${text(channel)}`]),
          ...(durationMs === undefined ? [] : [`for ${text(durationMs)} ms`]),
          ...(batch === undefined ? [] : [`in a batch of ${text(batch)}`]),
        ].join(', ');
  const after = context.openForMs === undefined ? '' : `, ${context.openForMs} ms after it was asked`;
  const by =
    context.message === undefined ? '' : `, by ${text(context.message.via)} in event ${context.message.eventId}`;
  return [
    ['Decided', `${who} ${verb} at ${text(entry.at)}${after}${by}; reason: ${memberText(line, 'reason')}`],
    ['Was shown', seen],
  ];
}

function ranSentence({ activity, state, scheduledAt, closedAt, scheduledEventId, attempt }: ActivityLine): string {
  const until = closedAt === undefined ? '' : ` until ${text(closedAt)}`;
  const tries = attempt === undefined ? '' : `, attempt ${attempt}`;
  return `${text(activity)}: ${text(state)}, from ${text(scheduledAt)}${until} (event ${scheduledEventId}${tries})`;
}

function outcomeSentence(entries: readonly EntryLine[]): string {
  const outcome = entries.findLast(({ entry }) => entry['outcome'] !== undefined);
  const ran = entries.findLast(({ entry }) => entry['ran'] !== undefined);
  const withheld = ran?.entry['code'] === resultWithheldType ? ', result withheld' : '';
  const effect = ran === undefined ? '' : `; ran: ${text(ran.entry['ran'])}${withheld}`;
  const earlier =
    outcome?.entry['resultOf'] === undefined ? '' : `, by the result of call ${text(outcome.entry['resultOf'])}`;
  return outcome === undefined ? `open${effect}` : `${text(outcome.entry['outcome'])}${earlier}${effect}`;
}

function isOutcome(...names: Json[]): (entry: EntryLine['entry']) => boolean {
  return ({ outcome }) => outcome !== undefined && names.includes(outcome);
}

/** The figures for Article 14 of the EU AI Act and for four-eyes rules. */
function oversight(entries: readonly EntryLine[]): string {
  const count = (test: (entry: EntryLine['entry']) => boolean): number =>
    entries.filter(({ entry }) => test(entry)).length;
  const people = (kind: string): number => count((entry) => entry.kind !== 'refused' && entry['identity'] === kind);
  const answers = entries.filter(isAnswer);
  const times = answers.flatMap(({ context }) => context.openForMs ?? []).toSorted((one, other) => one - other);
  const median = times[Math.floor(times.length / 2)];
  const messages = count(({ kind }) => kind === 'message');
  const votes = count(({ kind }) => kind === 'vote');
  const late = count(({ kind, approved }) => kind === 'refused' && approved !== undefined);
  const [verified, claimed, unnamed] = (['verified', 'claimed', 'anonymous'] as const).map(people);
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

function proofSection(run: RunLine | undefined, head: HeadLine | undefined, count: number): string {
  const recorded = head?.recorded;
  const isSame = recorded?.size === head?.size && recorded?.root === head?.root;
  const own =
    recorded === undefined
      ? 'none: the run has not written one'
      : `${text(recorded.root)} over ${recorded.size} entries, in event ${recorded.eventId} of execution ${text(recorded.runId)}`;
  return [
    '<h2>Proof</h2>',
    rows([
      ['Entries', `${count}`],
      ['Head of the run itself', own],
      ['Head of this report', `${text(head?.root)}${isSame ? ', the same' : ''}`],
      [
        'Check',
        `<code>countersign audit ${text(run?.workflowId)} &gt; audit.jsonl</code>, then <code>countersign audit verify audit.jsonl</code>`,
      ],
    ]),
  ].join('\n');
}

function journalTable(entries: readonly EntryLine[]): string {
  const lines = entries.map(({ entry, withheld = {} }) => {
    const { seq, at, kind, callId, ...rest } = entry;
    const hidden = Object.keys(withheld).map((name) => [name, 'withheld'] as const);
    const facts = [...Object.entries(rest), ...hidden].map(([name, value]) => `${text(name)}: ${text(value)}`);
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
