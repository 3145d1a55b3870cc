/** Modes change a policy's answer, but never a deny of a rule. A test compares this table with the docs. */
import { severities, type Risk, type Severity } from '../base/tool-call.ts';

export const modes = [
  'default',
  'interactive',
  'custom',
  'acceptEdits',
  'plan',
  'dontAsk',
  'reject_all',
  'headless',
  'approve_all',
  'bypassPermissions',
  'auto_approve',
  'auto_deny',
  'confirm_all',
  'confirm_high_risk',
  'confirm_medium_and_up',
] as const;
/** A named way to change a policy's answers; docs/policy-reference.md says what each does. */
export type Mode = (typeof modes)[number];

/** The facts about a call that a mode reads besides the policy's answer. */
export interface ModeFacts {
  risk: Risk;
  severity: Severity;
  requiresApproval: boolean;
}

/**
 * What a mode makes of an answer. `keep`: the action of the rule or the risk default. `readOnly`: this action for
 * read-only tools, else deny. `upTo`: allow up to this severity, else `beyond`. Only for risk defaults: `writeAllow`
 * allows a `write`, `askBecomes` replaces an ask, and `assessed` asks if the assessment requires it, else allows.
 */
type Cell =
  | Action
  | 'keep'
  | 'assessed'
  | { readOnly: Action }
  | { upTo: Severity; beyond: Action }
  | { writeAllow: true }
  | { askBecomes: Action };

interface Column {
  allow: Cell;
  ask: Cell;
  /** For calls that no rule matches. */
  none: Cell;
}

const standard: Column = { allow: 'keep', ask: 'keep', none: 'keep' };
const unattended: Column = { allow: 'keep', ask: 'deny', none: { askBecomes: 'deny' } };
const trusting: Column = { allow: 'keep', ask: 'allow', none: 'allow' };

export const modeTable: Record<Mode, Column> = {
  default: standard,
  interactive: standard,
  custom: { ...standard, none: 'assessed' },
  acceptEdits: { ...standard, none: { writeAllow: true } },
  plan: { allow: { readOnly: 'allow' }, ask: { readOnly: 'ask' }, none: { readOnly: 'allow' } },
  dontAsk: unattended,
  reject_all: unattended,
  headless: unattended,
  approve_all: { allow: 'keep', ask: 'allow', none: { askBecomes: 'allow' } },
  bypassPermissions: trusting,
  auto_approve: trusting,
  auto_deny: { allow: 'keep', ask: 'deny', none: { upTo: 'safe', beyond: 'deny' } },
  confirm_all: { allow: 'ask', ask: 'keep', none: 'ask' },
  confirm_high_risk: { ...standard, none: { upTo: 'medium', beyond: 'ask' } },
  confirm_medium_and_up: { ...standard, none: { upTo: 'low', beyond: 'ask' } },
};

export function isMode(name: unknown): name is Mode {
  return modes.some((mode) => mode === name);
}

/** Applies a mode to the answer of a rule, or of the risk default (`none`). `decided`: the mode chose the action. */
export function applyMode(
  mode: Mode,
  by: keyof Column,
  action: Action,
  facts: ModeFacts,
): { action: Action; decided: boolean } {
  const cell = modeTable[mode][by];
  if (cell === 'keep') return { action, decided: false };
  const applied = actionOf(cell, action, facts);
  // These cells may keep the action of the rule or the risk default, and then they have decided nothing.
  const mayKeep = by !== 'none' || (typeof cell === 'object' && ('askBecomes' in cell || 'writeAllow' in cell));
  return { action: applied, decided: !mayKeep || applied !== action };
}

/** What a cell of the table makes of `action`, which the rule or the risk default gives: see `Cell`. */
function actionOf(
  cell: Exclude<Cell, 'keep'>,
  action: Action,
  { risk, severity, requiresApproval }: ModeFacts,
): Action {
  if (cell === 'assessed') return requiresApproval ? 'ask' : 'allow';
  if (typeof cell === 'string') return cell;
  if ('readOnly' in cell) return risk === 'read_only' ? cell.readOnly : 'deny';
  if ('upTo' in cell) return severities.indexOf(severity) <= severities.indexOf(cell.upTo) ? 'allow' : cell.beyond;
  if ('writeAllow' in cell) return risk === 'write' ? 'allow' : action;
  return isAsked(action) ? cell.askBecomes : action;
}

/** True for modes that allow what no rule matches, even a part of a command. */
export function allowsAnything(mode: Mode): boolean {
  return modeTable[mode].none === 'allow';
}

/** The reason of a ruling that a mode made. A mode's denial never uses the reason of an ask rule. */
export function modeReason(mode: Mode, action: Action, tool: string): string | undefined {
  switch (action) {
    case 'allow':
      return undefined;
    case 'ask':
      return `Mode ${mode} asks`;
    case 'deny':
      if (mode === 'plan') return 'Read-only mode';
      return mode === 'headless' ? 'No reviewer: this run is headless' : `Policy denies '${tool}' (mode ${mode})`;
  }
}

/** From the most permissive to the strictest. */
export const actions = ['allow', 'ask', 'deny'] as const;
/** A policy's answer to a call. */
export type Action = (typeof actions)[number];

/** True if a person decides about a call with this answer. */
export function isAsked(action: Action): boolean {
  switch (action) {
    case 'ask':
      return true;
    case 'allow':
    case 'deny':
      return false;
  }
}

/** True if a call with this answer may run: at once, or once a reviewer has approved it. */
export function mayRun(action: Action): boolean {
  switch (action) {
    case 'allow':
    case 'ask':
      return true;
    case 'deny':
      return false;
  }
}
