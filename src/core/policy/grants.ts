/** Grants: what a reviewer's "always" leaves behind (policy section 3). Here they are matched; the ledger makes them. */
import { affordable, compileFieldGlob, type CallSubjects } from '../match/matching.ts';
import type { Identity } from '../people/entitlement.ts';
import { grantKinds, type Always, type GrantKind } from './policy.ts';
import type { Risk } from '../base/tool-call.ts';

/** A standing answer of this run. Instants in milliseconds of workflow time. */
export interface Grant {
  grantId: string;
  tool: string;
  /** False: a standing denial, which no ruling reads; see `standingDenial`. */
  approved: boolean;
  scope: GrantScope;
  reason?: string;
  /** Absent: until the run ends. The instant itself is in time. */
  expiresAtMs?: number;
  /** Absent: any number of times. */
  usesLeft?: number;
  /** Whose votes made it: it answers only where theirs would. */
  by?: { reviewerId?: string; identity: Identity }[];
  /** Its request hid its arguments: so does it. */
  hidden?: true;
  /** The definition of the tool that its reviewers saw; absent in grants of older runs. */
  definition?: string;
  /** The request that left it behind, and when. */
  requestId?: string;
  grantedAt?: string;
}

/** `call`: the same digest. `arguments`: every glob fits, and there is one. `tool`: any call of the tool. */
export type GrantScope =
  { kind: 'call'; digest: string } | { kind: 'arguments'; match: Record<string, string> } | { kind: 'tool' };

export interface GrantedCall {
  tool: string;
  /** The call's digest; without it no grant of kind `call` fits. */
  digest: string | undefined;
  atMs: number | undefined;
  subjects: CallSubjects;
}

/** What a rule admits that says nothing: `tool`, but `call` for destructive tools and shell subjects. */
export function defaultAlways(call: { risk: Risk; shell?: unknown }): GrantKind {
  return call.risk === 'destructive' || call.shell !== undefined ? 'call' : 'tool';
}

/** The narrowest of what several rules admit; of none, any kind. */
export function narrowest(admitted: readonly Always[]): Always {
  if (admitted.includes(false)) return false;
  return grantKinds.find((kind) => admitted.includes(kind)) ?? 'tool';
}

/** The first grant that fits the call and is no wider than `widest`. */
export function grantFor(grants: readonly Grant[], call: GrantedCall, widest: Always): Grant | undefined {
  return grants.find(
    (grant) =>
      grant.approved &&
      widest !== false &&
      grantKinds.indexOf(grant.scope.kind) <= grantKinds.indexOf(widest) &&
      fits(grant, call),
  );
}

/** The first standing denial that fits the call; whoever asks answers the call with it. */
export function standingDenial(grants: readonly Grant[], call: GrantedCall): Grant | undefined {
  return grants.find((grant) => !grant.approved && fits(grant, call));
}

/** Whether a grant is about the tool as it is now: who said "always" said it of the definition they saw (I8). A denial stands. */
export function isOfDefinition({ approved, definition }: Grant, now: string | undefined): boolean {
  return !approved || definition === undefined || now === undefined || definition === now;
}

/** What cannot be told does not fit: an expiry without a clock, an argument that is missing. */
function fits({ tool, scope, expiresAtMs, usesLeft }: Grant, call: GrantedCall): boolean {
  if (tool !== call.tool || usesLeft === 0) return false;
  if (expiresAtMs !== undefined && (call.atMs === undefined || call.atMs > expiresAtMs)) return false;
  if (scope.kind === 'tool') return true;
  if (scope.kind === 'call') return scope.digest === call.digest;
  const fields = Object.keys(scope.match);
  return (
    fields.length > 0 &&
    fields.every((field) => {
      const glob = compileFieldGlob(scope.match[field]!);
      return !('problem' in glob) && affordable(glob, call.subjects.field(field), call.subjects) === true;
    })
  );
}
