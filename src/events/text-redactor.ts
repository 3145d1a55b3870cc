import type { Json, JsonObject } from '../core/base/tool-call.ts';
import { hiddenText } from '../core/ledger/hidden-arguments.ts';
import { gatedArguments, gatedValues } from '../core/policy/gated-activity.ts';
import type { FindMore, Span } from '../core/redact/find-sensitive.ts';
import { findSensitive, redactText, withPlaceholders } from '../core/redact/find-sensitive.ts';
import { wholeRedaction, type HiddenText, hiddenTexts, leastHidden } from '../core/redact/join-redactions.ts';
import { secretKinds, tooMuch } from '../core/redact/kinds.ts';
import { findOwn } from '../redact/own-patterns.ts';
import { redactedArguments, redactionOf, type RedactedValue } from '../core/redact/redaction.ts';
import { redactJson } from '../redact/redact-json.ts';
import type { HiddenByPolicies } from './hidden-by-policies.ts';

/** The longest text that is searched. A longer text is not shown at all. */
const mostSearched = 1_000_000;

/** Redacts texts and arguments for reviewers by the run's policies. Hides everything until the policies are known. */
export class TextRedactor {
  readonly policies: HiddenByPolicies;
  readonly secrets = new KnownSecrets();

  constructor(policies: HiddenByPolicies) {
    this.policies = policies;
  }

  /** True if no text can be shown. */
  get hidesAll(): boolean {
    return !this.policies.isKnown || this.policies.hidesArguments || this.secrets.isFull;
  }

  /** Redacts a text, and each value if it is JSON. Returns a fixed sentence for a text that is not shown at all. */
  text(text: string): string {
    if (text === '') return text;
    if (this.hidesAll) return this.policies.hidesArguments ? hiddenText : tooMuch;
    const { settings } = this.policies;
    if (settings === undefined) return text;
    if (text.length > mostSearched) return tooMuch;
    const { kinds } = settings;
    const findMore = this.#findMore();
    const strings = redactJson(text, kinds, findMore) ?? text;
    return withPlaceholders(strings, findSensitive(strings, kinds, findMore));
  }

  /** Finds the parts of a text to hide. Undefined if the whole text must be hidden. */
  spansOf(text: string): Span[] | undefined {
    if (this.hidesAll || text.length > mostSearched) return undefined;
    const { settings } = this.policies;
    return settings === undefined ? [] : findSensitive(text, settings.kinds, this.#findMore());
  }

  /** Redacts a text about a call, such as its sentence. It replaces only secrets, and not personal data. */
  textAboutCall(text: string): string {
    if (this.hidesAll) return '';
    if (this.policies.settings === undefined) return text;
    return withPlaceholders(text, findSensitive(text, secretKinds, this.#findMore()));
  }

  /** Redacts arguments, and returns them with the names of those that have changed. Undefined if none may be shown. */
  args(tool: string, args: Json): { shown: Json; names: string[] } | undefined {
    if (this.hidesAll) return undefined;
    if (this.policies.settings === undefined) return { shown: args, names: [] };
    if (typeof args === 'string') return { shown: this.text(args), names: [] };
    if (typeof args !== 'object' || args === null) return { shown: this.text(JSON.stringify(args)), names: [] };
    const named = this.#named(tool, args);
    // Without the names of the arguments, it is unknown which values are secret: replace every text and number.
    const all = wholeRedaction(args as JsonObject);
    if (named === undefined) return { shown: redactedArguments(args, all.values), names: [] };
    const values = this.#valuesIn(tool, named);
    const shown = this.#withoutSecrets(redactedArguments(named, values));
    const names = [...new Set(values.map(({ path }) => String(path[0])))];
    return { shown: Array.isArray(args) ? this.#listed(tool, shown) : shown, names };
  }

  note(tool: string, args: Json): void {
    const { settings } = this.policies;
    const named = typeof args === 'object' && args !== null ? this.#named(tool, args) : undefined;
    if (settings === undefined || named === undefined) return;
    this.secrets.note(named, this.#valuesIn(tool, named), settings.kinds);
  }

  #valuesIn(tool: string, args: JsonObject): readonly RedactedValue[] {
    const settings = this.policies.settings!;
    const options = { settings, findMore: findOwn(settings.patterns), command: this.policies.commandOf(tool) };
    return redactionOf(args, options).values;
  }

  /** Returns the arguments by name. Undefined if the names are unknown. */
  #named(tool: string, args: Json[] | JsonObject): JsonObject | undefined {
    if (!Array.isArray(args)) return args;
    // An agent run has objects. A list that the model wrote instead is redacted like an object.
    if (!this.policies.isGate) return args as unknown as JsonObject;
    const declared = this.policies.gatedActivity(tool);
    const given = declared === undefined ? undefined : gatedArguments(declared, args);
    return given === undefined || 'problem' in given ? undefined : given.args;
  }

  #listed(tool: string, args: Json): Json {
    const declared = this.policies.gatedActivity(tool);
    if (declared === undefined || Array.isArray(args)) return args;
    const list = gatedValues(declared, args as JsonObject);
    return 'values' in list ? list.values.map((each) => each ?? null) : tooMuch;
  }

  #withoutSecrets(value: Json): Json {
    if (this.secrets.size === 0) return value;
    if (typeof value === 'string') return withPlaceholders(value, this.#secretsIn(value));
    if (Array.isArray(value)) return value.map((each) => this.#withoutSecrets(each));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.keys(value).map((name) => [name, this.#withoutSecrets(value[name]!)]));
  }

  #secretsIn(text: string): Span[] {
    return findSensitive(text, [], (each) => this.secrets.spansIn(each));
  }

  /** Creates a search for stored secrets and own patterns. A search counts its matches: create one for each text. */
  #findMore(): FindMore {
    const own = findOwn(this.policies.settings?.patterns ?? []);
    return (text) => [...this.secrets.spansIn(text), ...(own?.(text) ?? [])];
  }
}

const mostSecrets = 500;
const mostCharacters = 200_000;
/** The most work of one search, as characters times secrets. This much work takes about a quarter of a second. */
const mostCompared = 50_000_000;

/**
 * Stores secrets that only their place among the arguments reveals, such as the value of `password`, so that they are
 * hidden everywhere in the run. Secrets that a pattern finds are not stored, because it finds them everywhere.
 */
export class KnownSecrets {
  readonly #bySecret = new Map<string, HiddenText>();
  #characters = 0;
  #isFull = false;

  get size(): number {
    return this.#bySecret.size;
  }

  /** True if there are too many secrets to store. Then no text can be shown any more. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Stores the secrets at `values` that no pattern of `kinds` finds. The first that does not fit sets `isFull`. */
  note(args: JsonObject, values: readonly RedactedValue[], kinds: readonly string[]): void {
    for (const hidden of hiddenTexts(args, values)) {
      const { secret, placeholder } = hidden;
      if (secret.length < leastHidden || this.#bySecret.has(secret)) continue;
      if (redactText(secret, kinds) === placeholder) continue;
      this.#isFull ||= this.size >= mostSecrets || this.#characters + secret.length > mostCharacters;
      if (this.#isFull) return;
      this.#bySecret.set(secret, hidden);
      this.#characters += secret.length;
    }
  }

  /** Finds the stored secrets in a text, longest first. If the search would take too long, hides the whole text. */
  spansIn(text: string): Span[] {
    if (text.length * this.size > mostCompared) return [[0, text.length, tooMuch]];
    const longestFirst = [...this.#bySecret.values()].sort((one, other) => other.secret.length - one.secret.length);
    return longestFirst.flatMap((hidden) => hidden.spansIn(text));
  }

  /** Returns where the end of a text begins to equal the start of a stored secret; the text's length if none does. */
  beginsAt(text: string): number {
    const overlaps = Array.from(this.#bySecret.values(), (hidden) => hidden.overlap(text));
    return text.length - Math.max(0, ...overlaps);
  }
}
