import { formatDuration, escapeJson, escapeText, parseDuration, type JsonObject } from 'countersign/base';
import { narrowestScope, scopeCovers, scopeSteps, type AskedAlways, type RequestedScope } from 'countersign/card';
import { exactGlob, compileFieldGlob } from 'countersign/policy';
import type { KeyPress } from './key-press.ts';
import { shownField, type TextField, textField, fieldText, typeInto } from './text-field.ts';

/** The editor of an "always": how far it goes, and for how long. */
export interface ScopeEditor {
  asked: AskedAlways;
  /** The chosen kind; the globs below count only for `arguments`. */
  kind: RequestedScope['kind'];
  /** By argument: its glob, or null if it may have any value. */
  globs: Readonly<Record<string, string | null>>;
  /** The longest time, in the order of `durations`; undefined: until the run ends. */
  expiresIn?: string;
  /** The chosen row. */
  at: number;
  /** The glob of the chosen row while it is written. */
  field?: TextField;
  problem?: string;
}

const durations = [undefined, '15m', '1h', '8h', '1d'];

/** Opens at the narrowest scope that can be written down. */
export function openScopeEditor(asked: AskedAlways): ScopeEditor {
  const scope = narrowestScope(asked);
  const globs: Record<string, string | null> = {};
  for (const [name, value] of Object.entries(asked.args)) globs[name] = scope.match?.[name] ?? exactGlob(value) ?? null;
  const kinds = kindsOf(asked);
  return { asked, kind: scope.kind, globs, at: kinds.indexOf(scope.kind) };
}

type Row = { kind: RequestedScope['kind'] } | { argument: string } | 'time';

function rowsOf({ asked, kind, globs }: ScopeEditor): Row[] {
  const rows: Row[] = [];
  for (const each of kindsOf(asked)) {
    rows.push({ kind: each });
    if (each === 'arguments' && kind === 'arguments') {
      for (const argument of Object.keys(globs)) rows.push({ argument });
    }
  }
  return [...rows, 'time'];
}

function kindsOf(asked: AskedAlways): RequestedScope['kind'][] {
  return scopeSteps(asked).map(({ kind }) => kind);
}

/** The scope as it stands. */
export function scopeOf({ kind, globs, expiresIn }: ScopeEditor): RequestedScope {
  const limits = expiresIn === undefined ? {} : { expiresIn };
  if (kind !== 'arguments') return { kind, ...limits };
  const match = Object.entries(globs).filter((pair): pair is [string, string] => pair[1] !== null);
  return { kind, match: Object.fromEntries(match), ...limits };
}

/** Why this scope would be refused; undefined if it covers the call that was asked about. */
export function scopeProblem(editor: ScopeEditor): string | undefined {
  const { asked } = editor;
  return scopeCovers(scopeOf(editor), asked, asked.args) ? undefined : 'This does not cover the call itself.';
}

/** The editor after a key press; the caller handles the keys that leave it. */
export function pressInScopeEditor(editor: ScopeEditor, press: KeyPress): ScopeEditor {
  const { field, ...others } = editor;
  const rows = rowsOf(editor);
  const row = rows[editor.at]!;
  if (field !== undefined) {
    if ('key' in press && press.key === 'escape') return others;
    if ('key' in press && press.key === 'enter') return withGlob(others, row, fieldText(field));
    return { ...editor, field: typeInto(field, press), problem: undefined };
  }
  if ('key' in press && press.key === 'up') return { ...editor, at: Math.max(0, editor.at - 1) };
  if ('key' in press && press.key === 'down') return { ...editor, at: Math.min(rows.length - 1, editor.at + 1) };
  const typed = 'typed' in press ? press.typed : undefined;
  if (typed === ' ') return choose(editor, row);
  if (typed === 'e' && typeof row === 'object' && 'argument' in row) {
    return { ...editor, field: textField(editor.globs[row.argument] ?? '') };
  }
  return editor;
}

function choose(editor: ScopeEditor, row: Row): ScopeEditor {
  if (row === 'time') {
    return { ...editor, expiresIn: durations[(durations.indexOf(editor.expiresIn) + 1) % durations.length] };
  }
  if ('kind' in row) {
    const chosen = { ...editor, kind: row.kind };
    const at = rowsOf(chosen).findIndex((each) => typeof each === 'object' && 'kind' in each && each.kind === row.kind);
    return { ...chosen, at };
  }
  const { argument } = row;
  const exact = exactGlob(editor.asked.args[argument]!) ?? null;
  return { ...editor, globs: { ...editor.globs, [argument]: editor.globs[argument] === null ? exact : null } };
}

function withGlob(editor: ScopeEditor, row: Row, text: string): ScopeEditor {
  if (typeof row !== 'object' || !('argument' in row)) return editor;
  const glob = compileFieldGlob(text);
  if ('problem' in glob) return { ...editor, problem: `The pattern ${glob.problem}.`, field: textField(text) };
  return { ...editor, globs: { ...editor.globs, [row.argument]: text }, problem: undefined };
}

/** The rows, and what this run's past calls say about the scope. Undefined: they cannot be read. */
export function scopeLines(
  editor: ScopeEditor,
  past: readonly JsonObject[] | undefined,
  others: readonly string[],
): { text: string; tone?: 'chosen' | 'warning' | 'quiet' }[] {
  const { asked, kind, globs, expiresIn, at, field, problem } = editor;
  const tool = escapeText(asked.tool);
  const titles: Record<RequestedScope['kind'], string> = {
    call: 'only this very call',
    arguments: `calls of ${tool} whose arguments match`,
    tool: `every call of ${tool}`,
  };
  const rows = rowsOf(editor).map((row, index) => {
    const isChosen = index === at;
    const mark = isChosen ? '>' : ' ';
    const tone = isChosen ? 'chosen' : undefined;
    if (row === 'time') return { text: `${mark} ${timeText(expiresIn)}`, tone } as const;
    if ('kind' in row) return { text: `${mark} (${row.kind === kind ? '*' : ' '}) ${titles[row.kind]}`, tone } as const;
    const glob = globs[row.argument] ?? null;
    const written =
      isChosen && field !== undefined ? shownField(field).join('') : glob === null ? 'any value' : escapeText(glob);
    return { text: `${mark}       ${escapeText(row.argument)}: ${written}`, tone } as const;
  });
  const notes = [problem, scopeProblem(editor)].filter((text) => text !== undefined);
  const free = kind === 'arguments' ? others.map(escapeText).join(', ') : '';
  return [
    { text: 'In this run, from now on, also approve:' },
    ...rows,
    ...(free === '' ? [] : [{ text: `Not limited: ${free}`, tone: 'warning' } as const]),
    ...notes.map((text) => ({ text, tone: 'warning' }) as const),
    { text: '' },
    ...pastLines(editor, past),
  ];
}

function timeText(expiresIn: string | undefined): string {
  if (expiresIn === undefined) return 'until the run ends';
  const parsed = parseDuration(expiresIn);
  return `for ${'durationMs' in parsed && parsed.durationMs !== null ? formatDuration(parsed.durationMs) : expiresIn}`;
}

const pastShown = 5;

function pastLines(editor: ScopeEditor, past: readonly JsonObject[] | undefined) {
  const { asked } = editor;
  if (past === undefined) return [{ text: 'The past calls of this run cannot be read.', tone: 'quiet' } as const];
  const covered = past.filter((args) => scopeCovers(scopeOf(editor), asked, args));
  const head = `It would have covered ${covered.length} of ${past.length} past calls of ${escapeText(asked.tool)} in this run.`;
  const list = covered.slice(-pastShown).map((args) => ({ text: `  ${escapeJson(args)}`, tone: 'quiet' }) as const);
  return [{ text: head }, ...list];
}
