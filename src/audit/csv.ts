/** The entries of an export as a table for spreadsheets. It has no salts and no proofs, so it cannot be verified. */
import type { Json } from '../core/base/tool-call.ts';
import type { ActivityLine, AuditLine, EntryLine } from './audit-line.ts';

type Cell = Json | undefined;
type Column = (line: EntryLine, ran: ActivityLine | undefined) => Cell;

const member =
  (name: string): Column =>
  ({ entry }) =>
    entry[name];

const viewed =
  (name: string): Column =>
  ({ entry }) =>
    (entry['viewed'] as Record<string, Json> | undefined)?.[name];

const columns: Readonly<Record<string, Column>> = {
  workflowId: ({ workflowId }) => workflowId,
  seq: member('seq'),
  at: member('at'),
  kind: member('kind'),
  callId: member('callId'),
  requestId: member('requestId'),
  tool: member('toolName'),
  agent: member('agent'),
  action: member('action'),
  outcome: member('outcome'),
  approved: member('approved'),
  runs: member('runs'),
  ran: member('ran'),
  reviewer: member('reviewerId'),
  identity: member('identity'),
  channel: viewed('channel'),
  card: viewed('card'),
  viewedMs: viewed('durationMs'),
  batch: viewed('batch'),
  reason: member('reason'),
  rule: member('rule'),
  layer: member('layer'),
  severity: member('severity'),
  policyDigest: ({ entry, context }) => entry['policyDigest'] ?? context.policyDigest,
  engine: member('engine'),
  deadline: member('deadline'),
  openForMs: ({ context }) => context.openForMs,
  reviewers: ({ entry }) => (Array.isArray(entry['to']) ? entry['to'].map(textOf).join('; ') : entry['to']),
  code: member('code'),
  digest: member('digest'),
  decisionId: member('decisionId'),
  grant: member('grantId'),
  via: ({ context }) => context.message?.via,
  sender: ({ context }) => context.message?.sender,
  sentAt: ({ context }) => context.message?.at,
  activity: (_line, ran) => ran?.activity,
  activityState: (_line, ran) => ran?.state,
  scheduledAt: (_line, ran) => ran?.scheduledAt,
  startedAt: (_line, ran) => ran?.startedAt,
  closedAt: (_line, ran) => ran?.closedAt,
  scheduledEventId: (_line, ran) => ran?.scheduledEventId,
  withheld: ({ withheld = {} }) => Object.keys(withheld).join('; '),
  execution: ({ context }) => context.runId,
  eventId: ({ context }) => context.eventId,
};

/** Makes rows of lines. The rows of a run come with its head, because what ran is only known then. */
export function csvRows(): { header: string; take: (line: AuditLine) => string[] } {
  const entries = new Map<number, EntryLine[]>();
  const activities = new Map<number, ActivityLine[]>();
  return {
    header: Object.keys(columns).join(','),
    take: (line) => {
      if (line.line === 'entry') push(entries, line.run, line);
      if (line.line === 'activity') push(activities, line.run, line);
      if (line.line !== 'head') return [];
      // A call whose tool has changed runs under its last activity.
      const ran = new Map(activities.get(line.run)?.map((each) => [each.callId, each]));
      const rows = (entries.get(line.run) ?? []).map((each) => row(each, ran.get(textOf(each.entry['callId'] ?? ''))));
      entries.delete(line.run);
      activities.delete(line.run);
      return rows;
    },
  };
}

function push<Value>(to: Map<number, Value[]>, run: number, value: Value): void {
  to.set(run, [...(to.get(run) ?? []), value]);
}

function row(line: EntryLine, ran: ActivityLine | undefined): string {
  // What ran belongs to the entries that say that a call may run, or did.
  const { kind, outcome, runs } = line.entry;
  const isOfRun = kind === 'ran' || outcome === 'allowed' || runs === true;
  return Object.values(columns)
    .map((column) => cell(column(line, isOfRun ? ran : undefined)))
    .join(',');
}

function cell(value: Cell): string {
  const text = value === undefined || value === null ? '' : textOf(value);
  // A spreadsheet must not take what a model or a reviewer wrote for a formula.
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
