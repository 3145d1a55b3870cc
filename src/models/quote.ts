/** This module quotes responses of a model's server without the secrets that they may repeat (I13). */

const secrets = new Set<string>();
/** A text shorter than this is not taken for a secret: replacing it everywhere would garble the quote. */
const shortestSecret = 6;

/** Makes `quote` replace this secret, such as a key or the value of a header, from now on in this process. */
export function keepSecret(value: string): void {
  // A server may repeat the secret without its scheme, such as `Bearer`, or escaped within JSON.
  for (const secret of [value, ...value.split(' ')]) {
    if (secret.length < shortestSecret) continue;
    secrets.add(secret);
    secrets.add(JSON.stringify(secret).slice(1, -1));
  }
}

const longestQuote = 200;
/** How much text is searched for secrets before the quote is cut: half a secret would not be recognized. */
const readCharacters = 100_000;
const redacted = '[redacted]';

/** Returns the first 200 characters of `text` on one line. Replaces kept secrets, and texts that look like secrets. */
export function quote(text: string): string {
  const line = redact(text.slice(0, readCharacters))
    .replace(/[\s\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return line.length <= longestQuote ? line : `${line.slice(0, longestQuote).replace(/\p{Surrogate}$/u, '')}…`;
}

/** Replaces kept secrets, values beside names of secrets, and likely keys: words of 16 with a digit, or of 40. */
function redact(text: string): string {
  let clean = text;
  // Longer secrets come first, because a shorter one may be a part of them.
  for (const secret of [...secrets].toSorted((a, b) => b.length - a.length)) clean = clean.replaceAll(secret, redacted);
  return clean
    .replace(/\b(Bearer|Basic)\s+[^\s"',;]+/gi, `$1 ${redacted}`)
    .replace(/\bsk-[\w-]+/g, redacted)
    .replace(named, `$1${redacted}`)
    .replace(/[\w+/=-]{16,}/g, (word) => (/\d/.test(word) || word.length >= 40 ? redacted : word));
}

/** Matches the name of a secret and the value after it, such as `"api_key": "…"` or `API key provided: …`. */
const named =
  /((?:api[-_ ]?key|authorization|credential|password|secret|token)\b[^:=\n]{0,20}[:=]\s*["']?)[^\s"',;}]+/gi;
