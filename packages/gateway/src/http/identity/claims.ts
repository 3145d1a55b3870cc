import { isSamePerson, groupOf, personKey } from 'countersign/adapter';
import { isObject, ProblemError, nfc, shortened, looksLike, visibleText } from 'countersign/base';
import { roles, type Role } from './principal.ts';
import type { OpenIdSettings } from './identity.ts';

export interface NamedPerson {
  readonly id: string;
  /** A display name to show beside the id. It proves nothing. */
  readonly name?: string;
  readonly roles: readonly Role[];
  readonly groups: readonly string[];
}

type Claims = Record<string, unknown>;
/** How many values of a claim are read. */
const mostValues = 200;

/** The person of verified claims: those of a JWT; or of an ID token, then UserInfo. Throws if they name no person. */
export function personOfClaims(settings: OpenIdSettings, sources: readonly Claims[]): NamedPerson {
  const { idClaim, groupsClaim, rolesClaim } = settings;
  const idSource = sources.find((claims) => claimOf(claims, idClaim) !== undefined) ?? {};
  const unverified = idClaim === 'email' ? unverifiedEmail(settings, idSource['email'], sources) : undefined;
  if (unverified !== undefined) throw unidentified(unverified);
  const { name, problem } = personName(claimOf(idSource, idClaim));
  if (name === undefined) throw unidentified(`its claim '${idClaim}' ${problem}`);
  // A value that is not read grants no role.
  const roleValues = valuesOf(sources, rolesClaim).slice(0, mostValues);
  const isGranted = (role: Role): boolean =>
    settings.roles[role]?.some((value) => value === '*' || roleValues.includes(value)) === true;
  const displayName = displayNameOf(sources, name);
  return {
    id: name,
    ...(displayName !== undefined && { name: displayName }),
    roles: roles.filter(isGranted),
    groups: groupsOf(sources, groupsClaim),
  };
}

/**
 * Says why an e-mail address does not identify a person; undefined if it does. An unverified address proves nothing,
 * because a person may have entered another person's address. Sources with another address say nothing about this one.
 */
function unverifiedEmail(
  { trustEmail }: OpenIdSettings,
  email: unknown,
  sources: readonly Claims[],
): string | undefined {
  const verified = sources
    .filter((claims) => claims['email'] === undefined || isSameAddress(claims['email'], email))
    .map((claims) => claims['email_verified'])
    .filter((claim) => claim !== undefined);
  // Some providers send `email_verified` as a string.
  if (!verified.every((claim) => claim === true || claim === 'true')) {
    return `the identity provider says that it has not verified its e-mail address ('email_verified')`;
  }
  if (verified.length > 0 || trustEmail) return undefined;
  return `the identity provider does not say whether it has verified its e-mail address ('email_verified'); use another 'id_claim', such as 'sub', 'oid' or 'preferred_username', or 'trust_email: true' if people cannot choose their address at this provider`;
}

const nameClaims = ['name', 'preferred_username', 'email'];
const longestName = 100;

/** A person's display name, shortened; undefined if no claim says more than the id. */
function displayNameOf(sources: readonly Claims[], id: string): string | undefined {
  const values = nameClaims.flatMap((claim) => sources.map((claims) => claims[claim]));
  const name = values.find((value) => typeof value === 'string' && value.trim() !== '');
  if (typeof name !== 'string' || name === id) return undefined;
  // `shortened` adds one character, an ellipsis.
  return shortened(name.trim(), longestName - 1).toWellFormed();
}

function isSameAddress(one: unknown, other: unknown): boolean {
  return typeof one === 'string' && typeof other === 'string' && isSamePerson(one, other);
}

/** The groups in a claim. Throws for too many: without some, a policy that denies calls to them would allow these. */
function groupsOf(sources: readonly Claims[], name: string): string[] {
  const groups = valuesOf(sources, name);
  if (groups.length <= mostValues)
    return groups.filter((group) => typeof group === 'string').map((group) => nfc(group));
  throw unidentified(`its claim '${name}' has more than ${mostValues} values: have the provider name fewer groups`);
}

/** The values of a claim, from the first source that has the claim. A single value counts as a list of one. */
function valuesOf(sources: readonly Claims[], name: string): unknown[] {
  const found = sources.map((claims) => claimOf(claims, name)).find((value) => value !== undefined);
  return Array.isArray(found) ? found : [found];
}

/** The value of a claim, by its name or by a path such as `realm_access.roles`. Reads own properties only. */
function claimOf(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const key of name.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

function unidentified(why: string): ProblemError {
  return new ProblemError({ code: 'unauthenticated', message: `The credential identifies no person here: ${why}.` });
}

const longest = 200;

/**
 * Returns the name of a person, in NFC because policies compare names in NFC; or says why a value cannot be a name. A
 * name may be in any script, but not in several, and must not look like the name of a group or a channel.
 */
export function personName(
  value: unknown,
): { name: string; problem?: undefined } | { name?: undefined; problem: string } {
  if (typeof value !== 'string') return { problem: 'must be a text' };
  if (value.length > longest) return { problem: `must have at most ${longest} characters` };
  const name = nfc(value);
  if (name.trim() === '' || name.trim() !== name)
    return { problem: 'must not be empty, nor begin or end with a space' };
  if (groupOf(name) !== undefined) return { problem: 'must not begin with group:' };
  // Elsewhere, `channel:NAME` means the receivers of a channel.
  if (name.startsWith('channel:')) return { problem: 'must not begin with channel:' };
  if (!name.isWellFormed() || visibleText(name, { asName: true }) !== name)
    return { problem: 'must not have characters that are invisible or pass for those of another alphabet' };
  return { name };
}

/** Returns a function that finds the known name that a given name resembles, or equals in another spelling. */
export function namesakesAmong(known: readonly string[]): (name: string) => string | undefined {
  const byKey = new Map(known.map((name) => [personKey(name), name]));
  const byLook = new Map(known.map((name) => [looksLike(name), name]));
  return (name) => byKey.get(personKey(name)) ?? byLook.get(looksLike(name));
}
