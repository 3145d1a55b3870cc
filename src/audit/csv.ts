/** Writes the entries of an export as a table for spreadsheets (docs/audit.md): no proof, because it has no salts. */
import type { Json } from '../core/base/tool-call.ts';
import type { ActivityLine, AuditLine, EntryLine } from './audit-line.ts';

type Cell = Json | undefined;
/** Returns the cell of an entry. `ran` is the last activity of its call, if the entry is about running the call. */
type Column = (line: EntryLine, ran: ActivityLine | undefined) => Cell;

const member =
  (name: string): Column =>
  ({ entry }) =>
    entry[name];

/** Converts names of members, separated by blanks, to columns. */
const members = (names: string): Record<string, Column> =>
  Object.fromEntries(names.split(' ').map((name) => [name, member(name)]));

const viewed =
  (name: string): Column =>
  ({ entry }) =>
    (entry['viewed'] as Record<string, Json> | undefined)?.[name];

const columns: Readonly<Record<string, Column>> = {
  workflowId: ({ workflowId }) => workflowId,
  ...members('seq at kind callId requestId'),
  tool: member('toolName'),
  ...members('agent action outcome approved runs ran'),
  reviewer: member('reviewerId'),
  ...members('reviewerName identity'),
  channel: viewed('channel'),
  card: viewed('card'),
  viewedMs: viewed('durationMs'),
  batch: viewed('batch'),
  ...members('reason rule layer severity'),
  policyDigest: ({ entry, context }) => entry['policyDigest'] ?? context.policyDigest,
  ...members('engine deadline'),
  openForMs: ({ context }) => context.openForMs,
  reviewers: ({ entry }) => (Array.isArray(entry['to']) ? entry['to'].map(cellText).join('; ') : entry['to']),
  ...members('code digest decisionId'),
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

/** The separators between cells. Which one a spreadsheet expects depends on the language of the computer. */
export const csvSeparators = [',', ';'] as const;

/** Converts lines to rows. Returns the rows of a run at its head, when all activities of the run are known. */
export function csvRows(separator: (typeof csvSeparators)[number] = ','): {
  header: string;
  take: (line: AuditLine) => string[];
} {
  const entries = new Map<number, EntryLine[]>();
  const activities = new Map<number, ActivityLine[]>();
  return {
    header: Object.keys(columns).join(separator),
    take: (line) => {
      if (line.line === 'entry') push(entries, line.run, line);
      if (line.line === 'activity') push(activities, line.run, line);
      if (line.line !== 'head') return [];
      // The last activity of a call counts, because a call whose tool has changed is started again.
      const ran = new Map(activities.get(line.run)?.map((each) => [each.callId, each]));
      const rows = (entries.get(line.run) ?? []).map((each) =>
        cellsOf(each, ran.get(cellText(each.entry['callId'] ?? ''))).join(separator),
      );
      entries.delete(line.run);
      activities.delete(line.run);
      return rows;
    },
  };
}

function push<Value>(to: Map<number, Value[]>, run: number, value: Value): void {
  const known = to.get(run) ?? [];
  known.push(value);
  to.set(run, known);
}

function cellsOf(line: EntryLine, ran: ActivityLine | undefined): string[] {
  // Only an entry that permits a call, or records its end, has the cells of the call's activity.
  const { kind, outcome, runs } = line.entry;
  const isOfRun = kind === 'ran' || outcome === 'allowed' || runs === true;
  return Object.values(columns).map((column) => csvCell(column(line, isOfRun ? ran : undefined)));
}

/** Writes a cell so that a spreadsheet reads no text as a formula, a number or a date, and keeps all digits. */
export function csvCell(value: Cell): string {
  if (value === undefined || value === null) return '';
  const isPlain = typeof value === 'boolean' || (Number.isSafeInteger(value) && Math.abs(value as number) < 1e15);
  const text = isPlain ? cellText(value) : asText(cellText(value));
  return /[",;\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Matches what some spreadsheet would read as a number or date, and then change, such as the id 1.10 or 12e45. */
const numberMarks = /^[\p{Nd}\p{Sc}\p{Pd}\s.,:;/'’%()+−e]+$/iu;
const looksLikeDate =
  /^(?:\p{Nd}{1,4}[\s./-]*)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*(?:[\s.,/-]*\p{Nd}{1,4}){0,2}$/iu;
/** The beginning of a formula. Some spreadsheets ignore invisible characters before it. */
const formula = String.raw`(?:(?![\t\n])[\s\p{Cc}\p{Cf}])*[=+\-@＝＋－＠']`;
const startsLikeFormula = new RegExp(`^(?:[\\t\\n]|${formula})`, 'u');

/**
 * Puts an apostrophe before a text that a spreadsheet would change. A program may also split the text at a comma, a
 * semicolon, a tab or a quote, so a formula after such a mark gets an apostrophe, too.
 */
function asText(given: string): string {
  // Spreadsheets use LF for a line break within a cell.
  const text = given.replace(/\r\n?/g, '\n');
  const marked = text.replace(new RegExp(`([,;\\t\\n"])(?=${formula})`, 'gu'), "$1'");
  const isNumber = numberMarks.test(text) && /\p{Nd}/u.test(text);
  const isChanged = startsLikeFormula.test(text) || isNumber || looksLikeDate.test(text);
  return isChanged ? `'${marked}` : marked;
}

function cellText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
