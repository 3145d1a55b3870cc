/**
 * Matches grants (docs/policy-reference.md), which the ledger makes for decisions with "always". A grant of kind
 * `arguments` answers what an allow or deny rule with its globs would answer. So a denying grant reads each part of a
 * command and each element of a list, and it denies if its globs cannot be evaluated.
 */
import { affordable, compileFieldGlob, partSubjects } from '../match/matching.ts';
import type { LayerCall } from './layer-answer.ts';
import { oneRule } from './one-rule.ts';
import type { Identity } from '../people/entitlement.ts';
import { grantKinds, type Always, type GrantKind } from './policy.ts';
import { allowedText } from '../shell/parts.ts';
import type { GrantedCommand } from './whole-call.ts';
import type { Risk } from '../base/tool-call.ts';

/** The answer that a decision with `always` gives to later calls of the run. */
export interface Grant {
  /** Such as `grant-1`. */
  grantId: string;
  /** The tool's name. */
  tool: string;
  /** False: a standing denial. The run denies each call that matches, even an allowed one; `evaluate` ignores it. */
  approved: boolean;
  scope: GrantScope;
  reason?: string;
  /** The last millisecond of workflow time at which the grant is valid. Absent: valid until the run ends. */
  expiresAtMs?: number;
  /** Absent: unlimited uses. */
  usesLeft?: number;
  /** The reviewers who made the grant. It answers only requests that the votes of these reviewers would settle. */
  by?: { reviewerId?: string; reviewerName?: string; identity: Identity }[];
  /** The request that made the grant hid its arguments, so the grant hides its globs. */
  hidden?: true;
  /** The arguments in which the request hid something. The grant hides its globs on these arguments. */
  redacted?: string[];
  /** The digest of the tool definition that the reviewers saw. Absent in grants of older runs. */
  definition?: string;
  /** Only for a tool that is denied for good: its number of denials. Answers only calls that would be asked about. */
  denials?: number;
  /** The request that made the grant, and when: ISO 8601. */
  requestId?: string;
  grantedAt?: string;
}

/**
 * Which calls a grant covers. `call`: those with the same digest. `arguments`: those whose arguments match all globs.
 * For a shell command, a glob must match each part of the command, and each undeclared argument needs one.
 */
export type GrantScope =
  { kind: 'call'; digest: string } | { kind: 'arguments'; match: Record<string, string> } | { kind: 'tool' };

export interface GrantedCall {
  /** The call's digest. Without a digest, no grant of kind `call` matches. */
  digest: string | undefined;
  atMs: number | undefined;
  ready: LayerCall;
  /** The command, if the call has one. */
  command?: GrantedCommand | undefined;
}

/** The widest grant that a rule admits by default: `tool`, but `call` for destructive tools and shell subjects. */
export function defaultAlways(call: { risk: Risk; shell?: unknown }): GrantKind {
  return call.risk === 'destructive' || call.shell !== undefined ? 'call' : 'tool';
}

/** The narrowest grant that several rules admit; `tool` if there are no rules. */
export function narrowest(admitted: readonly Always[]): Always {
  if (admitted.includes(false)) return false;
  return grantKinds.find((kind) => admitted.includes(kind)) ?? 'tool';
}

/** The first grant that lets the call run and is no wider than `widest`; undefined if none does. */
export function grantFor(grants: readonly Grant[], call: GrantedCall, widest: Always): Grant | undefined {
  if (widest === false) return undefined;
  const isNarrowEnough = ({ scope }: Grant) => grantKinds.indexOf(scope.kind) <= grantKinds.indexOf(widest);
  return grants.find(
    (grant) => grant.approved && isNarrowEnough(grant) && isValid(grant, call) && letsRun(grant, call),
  );
}

/** True if an approving grant matches the call. Kind `arguments` matches as a rule, or the exact text of a command. */
function letsRun(grant: Grant, call: GrantedCall): boolean {
  if (grant.scope.kind === 'arguments' && !isExactCommand(grant, call)) return matchesAsRule(grant, call);
  const namesAll = unmatched(grant.scope, call.ready.undeclared).length === 0;
  return matchesScope(grant, call) && namesAll && coversCommand(grant, call);
}

/**
 * True if a grant covers the call's command. Kind `arguments` needs a glob that matches each part of the command, as
 * an allow rule does: `make*` does not cover `make; rm -rf /`. The exact text of a command covers all of it.
 */
export function coversCommand(grant: Grant, call: GrantedCall): boolean {
  const { scope } = grant;
  const { command, ready } = call;
  if (command === undefined || scope.kind !== 'arguments') return true;
  if (!Object.hasOwn(scope.match, command.subject)) return false;
  if (isExactCommand(grant, call)) return true;
  const { subject, shell } = command;
  if (shell.uncertain.length > 0) return false;
  return shell.parts.every((part) => {
    const subjects = partSubjects(ready.subjects, subject, allowedText(part));
    return matchesScope(grant, { ...call, ready: { ...ready, subjects } });
  });
}

function isExactCommand({ scope }: Grant, { command }: GrantedCall): boolean {
  return command !== undefined && scope.kind === 'arguments' && scope.match[command.subject] === command.text;
}

/** The undeclared arguments on which a grant of kind `arguments` has no glob. With any of these, it answers nothing. */
export function unmatched(scope: GrantScope, undeclared: readonly string[]): string[] {
  return scope.kind === 'arguments' ? undeclared.filter((name) => !Object.hasOwn(scope.match, name)) : [];
}

/** The first standing denial that matches the call, kind `arguments` as a deny rule does; undefined if none does. */
export function standingDenial(grants: readonly Grant[], call: GrantedCall): Grant | undefined {
  return grants.find(
    (grant) =>
      !grant.approved &&
      isValid(grant, call) &&
      (grant.scope.kind === 'arguments' ? matchesAsRule(grant, call) : matchesScope(grant, call)),
  );
}

/** True if the grant counts for the current definition: reviewers approved what they saw. Denials always count. */
export function isOfDefinition({ approved, definition }: Grant, now: string | undefined): boolean {
  return !approved || definition === undefined || now === undefined || definition === now;
}

/** True if a grant is for this tool, has uses left and is not expired. At an unknown time, only a denial is valid. */
function isValid({ tool, expiresAtMs, usesLeft, approved }: Grant, { ready, atMs }: GrantedCall): boolean {
  if (tool !== ready.tool || usesLeft === 0) return false;
  if (expiresAtMs === undefined) return true;
  return atMs === undefined ? !approved : atMs <= expiresAtMs;
}

/** True if a rule with the globs of the grant would allow the call, or would deny it. */
function matchesAsRule({ scope, approved }: Grant, { ready, command }: GrantedCall): boolean {
  if (scope.kind !== 'arguments' || Object.keys(scope.match).length === 0) return false;
  const rule = oneRule({ args: scope.match });
  if (!approved) return rule.denies(ready) !== false;
  // Without a glob on the command, the rule would allow any command.
  return (command === undefined || Object.hasOwn(scope.match, command.subject)) && rule.allows(ready);
}

/**
 * True if the scope of the grant matches the call, which must have each argument that has a glob. A scope without globs
 * would match every call of the tool: callers refuse it.
 */
function matchesScope({ scope }: Grant, call: GrantedCall): boolean {
  if (scope.kind === 'tool') return true;
  if (scope.kind === 'call') return scope.digest === call.digest;
  const { subjects } = call.ready;
  return Object.entries(scope.match).every(([field, source]) => {
    const glob = compileFieldGlob(source);
    return !('problem' in glob) && affordable(glob, subjects.field(field), subjects, 'every') === true;
  });
}
