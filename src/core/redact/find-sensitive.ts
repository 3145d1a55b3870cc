import { detectors, secretNames } from './detectors.ts';
import { sensitiveKinds, grantsAccess, valuePlaceholder, withoutDigest, secretKinds } from './kinds.ts';

/** A part of a text, from `start` to before `end` in UTF-16 units, and the placeholder that replaces it. */
export type Span = [start: number, end: number, placeholder: string];

/** The length of the shortest text in which a built-in pattern finds anything: `pwd=x`. */
const shortest = 5;

/** Finds further sensitive parts of a text. They take precedence over those of the built-in patterns. */
export type FindMore = (text: string) => readonly Span[];

/** The spans to hide, in order. Built-in patterns (`kinds`) hide no part of a host: it says where a call goes. */
export function findSensitive(text: string, kinds: readonly string[] = sensitiveKinds, findMore?: FindMore): Span[] {
  const taken = new Taken(text);
  for (const span of findMore?.(text) ?? []) taken.add(span);
  if (text.length < shortest) return taken.inOrder();
  const hosts = hostsIn(text);
  for (const { kind, expression, hasPrefix, sensitiveLength } of detectors) {
    if (!kinds.includes(kind)) continue;
    const isInHost = overlapTest(hosts);
    // A copy: `exec` changes `lastIndex`, and the workflow sandbox freezes what its executions share.
    const search = new RegExp(expression);
    for (let match = search.exec(text); match !== null; match = search.exec(text)) {
      const prefix = hasPrefix === true ? match[1]! : '';
      const start = match.index + prefix.length;
      const found = match[0].slice(prefix.length);
      const characterAfter = text.slice(start + found.length, start + found.length + 1);
      const length = sensitiveLength === undefined ? found.length : sensitiveLength(found, characterAfter);
      if (length > 0 && !isInHost(start, start + length)) {
        const placeholder = valuePlaceholder(kind, text.slice(start, start + length));
        taken.add([start, start + length, placeholder], grantsAccess(kind));
      }
      // An IBAN may begin inside a false match, or after a shorter IBAN. Matches are short, so this stays linear.
      if (kind === 'IBAN') search.lastIndex = length > 0 ? start + length : start + 1;
    }
  }
  return taken.inOrder();
}

/** Returns whether a range overlaps one of `hosts`. Ranges must come in order, so each host is passed once. */
function overlapTest(hosts: readonly [start: number, end: number][]): (start: number, end: number) => boolean {
  let next = 0;
  return (start, end) => {
    while (next < hosts.length && hosts[next]![1] <= start) next += 1;
    return next < hosts.length && hosts[next]![0] < end;
  };
}

/** The text with a placeholder in the place of each span. Spans are in order, and do not overlap. */
export function withPlaceholders(text: string, spans: readonly Span[]): string {
  let [redacted, from] = ['', 0];
  for (const [start, end, placeholder] of spans) {
    redacted += text.slice(from, start) + placeholder;
    from = end;
  }
  return redacted + text.slice(from);
}

/** Collects spans that do not overlap: of two that do, the first one counts. */
export class Taken {
  readonly #spans: Span[] = [];
  readonly #text: string;
  /** 1 for each character of a span. */
  #marks: Uint8Array | undefined;
  /** 1 for each character of a text that grants access and was not added, because it overlaps an earlier span. */
  #access: Uint8Array | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /**
   * Adds a span, widened to a whole surrogate pair where it would divide one: JSON cannot carry half a pair.
   * `isAccess`: the text grants access, so placeholders of overlapping spans show no part of the text.
   */
  add([from, to, placeholder]: Span, isAccess = false): void {
    this.#marks ??= new Uint8Array(this.#text.length);
    if (to <= from) return;
    const start = dividesPair(this.#text, from) ? from - 1 : from;
    const end = dividesPair(this.#text, to) ? to + 1 : to;
    if (this.#marks.subarray(start, end).includes(1)) {
      if (isAccess) (this.#access ??= new Uint8Array(this.#text.length)).fill(1, start, end);
      return;
    }
    this.#marks.fill(1, start, end);
    this.#spans.push([start, end, placeholder]);
  }

  inOrder(): Span[] {
    const spans = this.#spans.map(([start, end, placeholder]): Span => {
      const overlapsAccess = this.#access?.subarray(start, end).includes(1) === true;
      return [start, end, overlapsAccess ? withoutDigest(placeholder) : placeholder];
    });
    return spans.sort(([one], [other]) => one - other);
  }
}

function dividesPair(text: string, at: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, at - 1), at + 1));
}

export function redactText(text: string, kinds?: readonly string[], findMore?: FindMore): string {
  return withPlaceholders(text, findSensitive(text, kinds, findMore));
}

/** Matches a text that begins with an address. */
const isAddress = /^\s*(?:[a-z][a-z\d+.-]{0,30}:|\/\/)/i;

/**
 * The hosts in a text, each from its start to before its end: between the last `@` and the path. Browsers and curl
 * read `https://bank.example;a@evil.example/pay` so, too: its host is `evil.example`.
 */
export function hostsIn(text: string): [start: number, end: number][] {
  // A quote ends an address in running text. In a text that is an address, a quote may be part of it.
  const ends = isAddress.test(text) ? /[/?#\\ ]/g : /[/?#\\\s"'<>`]/g;
  // Matches what comes before a host. After `http:` and the like, browsers accept any number of slashes.
  const search = /\b(?:https?|wss?|ftp):[/\\]*|:\/\/|^\s*\/\//gi;
  const hosts: [number, number][] = [];
  for (let match = search.exec(text); match !== null; match = search.exec(text)) {
    const start = match.index + match[0].length;
    ends.lastIndex = start;
    const end = ends.exec(text)?.index ?? text.length;
    hosts.push([start + text.slice(start, end).lastIndexOf('@') + 1, end]);
    search.lastIndex = end;
  }
  return hosts;
}

/** Redacts a text that leaves a run: secrets become placeholders such as `[JWT]`. Reviewers need everything else. */
export function redactSecrets(text: string): string {
  return redactText(text, secretKinds);
}

/** The length of the longest name in `secretNames`. */
const longestEnd = 17;
/** Names that mean a secret only as the whole name: a `page_token` grants no access. */
const wholeNames: ReadonlySet<string> = new Set(['token', 'otp', 'cookie', 'set-cookie']);

/** True for the name of an argument whose whole value is a secret, such as `dbPassword`. */
export function namesSecret(name: string): boolean {
  if (name.length <= longestEnd && wholeNames.has(name.toLowerCase())) return true;
  return secretName.test(name.slice(-longestEnd));
}

const secretName = new RegExp(`(?:${secretNames})$`, 'i');
