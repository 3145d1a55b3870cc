import { canonicalJson, writeCanonicalJson } from '../core/base/canonical-json.ts';
import type { JsonObject, Json } from '../core/base/tool-call.ts';
import type { RequestedScope } from '../core/messages/decision.ts';
import { grantFor, type Grant } from '../core/policy/grants.ts';
import { readyCall } from '../core/policy/ruling.ts';
import { grantedCommand } from '../core/policy/whole-call.ts';
import { notSplit } from '../core/shell/parts.ts';
import { splitShell } from '../shell/split.ts';
import { pressedScope, type AlwaysTerms } from '../core/ledger/make-grant.ts';
import { cardOf } from './card-of.ts';
import type { Card, CardRequest } from './card.ts';
import { compileFieldGlob } from '../core/match/matching.ts';

/** The run refuses decisions whose scope exceeds these limits. */
const most = { fields: 20, nameLength: 200 };

export interface AskedAlways {
  tool: string;
  args: JsonObject;
  terms: AlwaysTerms;
}

/**
 * Returns the narrowest scope to propose for "always": `arguments`, with the exact value of each; or `call`, if a value
 * cannot be written as a glob, or the terms do not admit `arguments`.
 *
 * @example
 * narrowestScope({ tool: 'pay', args: { to: 'a*', amount: 20 }, terms: { widest: 'tool' } });
 * // => { kind: 'arguments', match: { to: 'a[*]', amount: '20' } }
 * narrowestScope({ tool: 'pay', args: { to: 'ann' }, terms: { widest: 'call' } }); // => { kind: 'call' }
 */
export function narrowestScope(asked: AskedAlways): RequestedScope {
  const match = exactMatch(asked.args);
  if (match === undefined) return { kind: 'call' };
  const exact: RequestedScope = { kind: 'arguments', match };
  // The terms may admit only `call`, or the call may be a shell command of several parts, which no such scope covers.
  return scopeCovers(exact, asked, asked.args) ? exact : { kind: 'call' };
}

/** The scopes to choose from, the narrowest first: this call, its exact arguments, the whole tool. */
export function scopeSteps(asked: AskedAlways): RequestedScope[] {
  const narrowest = narrowestScope(asked);
  const exact = narrowest.kind === 'arguments' ? [narrowest] : [];
  return [{ kind: 'call' }, ...exact, ...(asked.terms.widest === 'tool' ? [{ kind: 'tool' } as const] : [])];
}

/** Returns for each argument a glob that matches only its value. Undefined if that is impossible for one of them. */
function exactMatch(args: JsonObject): Record<string, string> | undefined {
  const names = Object.keys(args);
  if (names.length === 0 || names.length > most.fields) return undefined;
  const globs = names.map(
    (name) => [name, name.length > most.nameLength ? undefined : exactGlob(args[name]!)] as const,
  );
  if (globs.some(([, glob]) => glob === undefined)) return undefined;
  return Object.fromEntries(globs as [string, string][]);
}

/** True if a grant with this scope, made for the request's call, answers a call of that tool with `args`. */
export function scopeCovers(scope: RequestedScope, asked: AskedAlways, args: JsonObject): boolean {
  const { tool, terms } = asked;
  const { command } = terms;
  const text = command === undefined ? undefined : args[command.argument];
  const shell = typeof text === 'string' ? splitShell(text) : notSplit;
  const declared = { args, ...(command !== undefined && { subject: command.argument, shell, beside: command.beside }) };
  // Digests are only compared with each other here, so two words can replace them.
  const digest = canonicalJson(args) === canonicalJson(asked.args) ? 'same' : 'other';
  // A grant does not depend on the risk of a call.
  const ready = readyCall({ tool, risk: 'unknown', ...declared }, {});
  const call = { digest, atMs: undefined, ready, command: grantedCommand(declared) };
  return grantFor([{ grantId: '', tool, approved: true, scope: grantScope(scope) }], call, terms.widest) !== undefined;
}

function grantScope({ kind, match = {} }: RequestedScope): Grant['scope'] {
  if (kind === 'arguments') return { kind, match };
  return kind === 'call' ? { kind, digest: 'same' } : { kind };
}

/** Returns the uncut card for a terminal that reads one line, and the scope of the answer `A` if the card offers it. */
export function lineCard(request: CardRequest, nowMs: number): { card: Card; always?: RequestedScope } {
  const pressed = request.always && pressedScope(request.always);
  const card = cardOf(request, { all: true, always: pressed?.kind ?? false, nowMs });
  const isOffered = card.answers.some(({ name }) => name === 'always');
  return { card, ...(isOffered && pressed !== undefined && { always: pressed }) };
}

/** Why a terminal that reads one line does not offer "always". */
export function noAlways({ always }: Pick<CardRequest, 'always'>): string {
  return always === undefined
    ? 'The rule that asks admits no "always".'
    : 'Part of this request is hidden, so you cannot approve it for later calls.';
}

/**
 * Returns the glob that matches this value and no other; undefined if the value is empty or too long. Texts that are
 * equal in NFC count as one value, and so do a text and a JSON value that is written like it.
 *
 * @example
 * exactGlob('a*b'); // => 'a[*]b'
 * exactGlob(20); // => '20'
 */
export function exactGlob(value: Json): string | undefined {
  const written = typeof value === 'string' ? { text: value } : writeCanonicalJson(value);
  if ('problem' in written) return undefined;
  // A glob must not begin or end with a blank, so such a blank is written as a class.
  const glob = written.text.replace(/[*?[]/g, '[$&]').replace(/^\s|\s$/g, '[$&]');
  return 'problem' in compileFieldGlob(glob) ? undefined : glob;
}
