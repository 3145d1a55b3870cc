/** Redacts the events of a run by the policies in its history, so that no worker is needed. */
import { defaultAssessment } from '../core/assess/assessment.ts';
import { hideInRequest } from '../core/ledger/hidden-arguments.ts';
import type { Problem, ProblemCode } from '../core/base/problem.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { parseJson } from '../core/base/json.ts';
import type { ShownFile } from '../core/base/user-files.ts';
import { redactText, withPlaceholders } from '../core/redact/find-sensitive.ts';
import { isJson } from '../text/read-json.ts';
import { HiddenByPolicies } from './hidden-by-policies.ts';
import type { HistoryEvent } from './history-event.ts';
import type { ApprovalRequestEvent, RecordedEvent, RunCompleteEvent, RunItem } from './run-event.ts';
import { readStructuredOutput } from './read-payloads.ts';
import { TextRedactor } from './text-redactor.ts';
import { type TokenTail, tokenTail } from './token-tail.ts';

/**
 * Problems with which a run cannot start. Its policies then stay unknown, so all other texts are hidden. The messages
 * of these problems are shown, because they are about the run's input: the run has made no call that they could quote.
 */
const startCodes: readonly ProblemCode[] = [
  'agent_unknown',
  'policy_invalid',
  'arguments_invalid',
  'too_large',
  'undecodable',
];

export class EventRedactor {
  #isAgentRun = false;
  readonly #policies = new HiddenByPolicies();
  readonly #texts = new TextRedactor(this.#policies);
  readonly #tail = new TailRedactor(this.#texts);

  /** False until the run has loaded its policies. Until then all texts are hidden. */
  get isReady(): boolean {
    return this.#policies.version > 0;
  }

  /** Grows whenever more is hidden than before, which also changes earlier events. */
  get version(): number {
    return this.#policies.version + this.#texts.secrets.size;
  }

  /** Grows with each policy that hides more. The caller must then pass earlier events to `note` again. */
  get policyVersion(): number {
    return this.#policies.version;
  }

  /** Reads the policies in the next event of the history. An event may be read twice. */
  learn(event: HistoryEvent): void {
    const { what } = event;
    if (what?.kind === 'started') this.#isAgentRun = what.isAgentRun;
    this.#policies.learn(event);
  }

  /** Collects the secrets in events, to hide them everywhere. Call this before any of these events is shown. */
  note(events: readonly RecordedEvent[]): void {
    for (const event of events) {
      if (event.type !== 'RunItemEvent') continue;
      const { item } = event;
      if (item.type !== 'tool_call' && item.type !== 'tool_result') continue;
      if (item.arguments !== undefined) this.#texts.note(item.toolName, item.arguments);
    }
  }

  /** Redacts what the model, tools and arguments say. Events of other types have no such text. */
  redact(event: RecordedEvent): RecordedEvent {
    switch (event.type) {
      case 'RunItemEvent':
        return { ...event, item: this.#item(event.item) };
      case 'ApprovalRequestEvent':
        return this.#request(event);
      case 'RunCompleteEvent':
        return this.#complete(event);
      default:
        return event;
    }
  }

  /** Redacts the end of an answer that the model is still writing. Undefined if none of it may be shown yet. */
  tail(turn: number, tail: TokenTail): TokenTail | undefined {
    return this.#tail.next(turn, tail);
  }

  #item(item: RunItem): RunItem {
    if (item.type === 'message') {
      const { files, structuredOutput, outputProblem, ...rest } = item;
      return {
        ...rest,
        content: this.#texts.text(item.content),
        ...(files !== undefined && { files: files.map((file) => this.#file(file)) }),
        ...this.#output(structuredOutput),
        ...(outputProblem !== undefined && { outputProblem: this.#texts.text(outputProblem) }),
      };
    }
    if (item.type === 'turn_ended' && item.failure !== undefined) {
      return { ...item, failure: { ...item.failure, message: this.#texts.text(item.failure.message) } };
    }
    if (item.type !== 'tool_call' && item.type !== 'tool_result') return item;
    const { arguments: args, ...rest } = item;
    const shown = args === undefined ? undefined : this.#texts.args(item.toolName, args)?.shown;
    const more = shown === undefined ? {} : { arguments: shown };
    if (rest.type === 'tool_call') return { ...rest, ...more };
    return { ...rest, content: this.#texts.text(rest.content), ...more };
  }

  #file({ mediaType, bytes, host, filename }: ShownFile): ShownFile {
    return {
      mediaType,
      ...(bytes !== undefined && { bytes }),
      ...(host !== undefined && { host: this.#texts.text(host) }),
      ...(filename !== undefined && { filename: this.#texts.text(filename) }),
    };
  }

  /** Redacts every text about the call. Removes the arguments if none may be shown. */
  #request(event: ApprovalRequestEvent): ApprovalRequestEvent {
    const { toolName, arguments: args, contextSummary, sentence, assessment, advice, shownArguments } = event;
    if (this.#texts.hidesAll) return withoutArguments(event);
    const found = this.#texts.args(toolName, args)!;
    const redacted = [...new Set([...(event.redacted ?? []), ...found.names])];
    const redactAll = (texts: string[]): string[] => texts.map((text) => this.#texts.textAboutCall(text));
    return {
      ...event,
      arguments: found.shown as JsonObject,
      contextSummary: this.#texts.text(contextSummary),
      ...(sentence !== undefined && { sentence: this.#texts.textAboutCall(sentence) }),
      ...(redacted.length > 0 && { redacted }),
      ...(assessment !== undefined && {
        assessment: {
          ...assessment,
          reasons: redactAll(assessment.reasons),
          affectedResources: redactAll(assessment.affectedResources),
          recommendations: redactAll(assessment.recommendations),
          ...(assessment.fromWorker !== undefined && { fromWorker: redactAll(assessment.fromWorker) }),
        },
      }),
      ...(advice !== undefined && {
        advice: advice.map((each) => ({
          ...each,
          ...(each.reason !== undefined && { reason: this.#texts.textAboutCall(each.reason) }),
        })),
      }),
      ...(shownArguments !== undefined && {
        shownArguments: this.#texts.args(toolName, shownArguments)!.shown as Record<string, string>,
      }),
    };
  }

  #complete(event: RunCompleteEvent): RunCompleteEvent {
    const { output, structuredOutput, failure, ...rest } = event;
    return {
      ...rest,
      output: this.#texts.text(output),
      ...this.#output(structuredOutput),
      ...(failure !== undefined && { failure: { ...failure, message: this.#reason(failure) } }),
    };
  }

  /** Redacts a structured output as text. Empty if the redacted text is not JSON any more. */
  #output(value: JsonObject | undefined): { structuredOutput?: JsonObject } {
    if (value === undefined) return {};
    const shown = this.#texts.text(JSON.stringify(value));
    return isJson(shown) ? readStructuredOutput(parseJson(shown)) : {};
  }

  #reason({ code, message }: Problem): string {
    const isStart = this.#isAgentRun && !this.isReady && startCodes.includes(code);
    return isStart ? redactText(message) : this.#texts.text(message);
  }
}

/** Removes the arguments, and texts that may quote them, as a policy with `include_arguments: false` demands. */
function withoutArguments(event: ApprovalRequestEvent): ApprovalRequestEvent {
  const { assessment = defaultAssessment(event.riskLevel), reviewers = [] } = event;
  const hidden = hideInRequest({ ...event, assessment, reviewers });
  const { sentence: _, shownArguments: __, notShown: ___, redacted: ____, ...rest } = hidden;
  return rest;
}

/**
 * The longest text that is redacted while the model writes it. Each part is searched together with all earlier ones, so
 * a longer text would take too long; it is shown only when it is complete.
 */
const mostWritten = 64_000;
/** The most characters that a built-in pattern matches across several words, such as a card number. */
const longestOfSeveralWords = 80;
/** The most characters that a policy's own pattern matches. */
const longestOfOwnPattern = 1_000;

/** Redacts a text while the model writes it. Withholds the end of the text while it may be the start of a secret. */
class TailRedactor {
  readonly #redactor: TextRedactor;
  #turn = 0;
  #attempt = 0;
  #written = '';
  #shown = '';
  /** True once no further part of this answer can be shown. */
  #hasLost = false;

  constructor(redactor: TextRedactor) {
    this.#redactor = redactor;
  }

  /** Adds a part of the answer, and returns the end of the redacted text. Undefined if no text may be shown yet. */
  next(turn: number, { attempt, offset, tail }: TokenTail): TokenTail | undefined {
    if (turn !== this.#turn || attempt !== this.#attempt) {
      [this.#turn, this.#attempt, this.#written, this.#shown, this.#hasLost] = [turn, attempt, '', '', false];
    }
    // If an earlier part was missed, this text may begin in the middle of a secret.
    this.#hasLost ||= offset > this.#written.length || offset + tail.length > mostWritten;
    if (!this.#hasLost) {
      this.#written += tail.slice(this.#written.length - offset);
      const shown = this.#shownOf(this.#written);
      // Less may be shown than before if the new part may extend a secret. Then wait for the next part.
      const isLess = shown !== undefined && this.#shown.startsWith(shown);
      // Viewers keep what was shown, so all further text must begin with it.
      this.#hasLost = shown === undefined || (!isLess && !shown.startsWith(this.#shown));
      if (!this.#hasLost && !isLess) this.#shown = shown!;
    }
    return this.#shown === '' ? undefined : tokenTail(attempt, this.#shown);
  }

  /** Redacts the part of a text that can be shown before the rest of it is known. Undefined if no part can. */
  #shownOf(text: string): string | undefined {
    const spans = this.#redactor.spansOf(text);
    if (spans === undefined) return undefined;
    const { settings } = this.#redactor.policies;
    if (settings === undefined) return text;
    const end = settledEnd(text, settings.patterns.length > 0, this.#redactor.secrets.beginsAt(text));
    // Show nothing of a secret that goes past the settled end, because the secret may still grow.
    const cut = spans.find(([start, until]) => start < end && until > end)?.[0] ?? end;
    const whole = spans.filter(([, until]) => until <= cut);
    return withPlaceholders(text.slice(0, cut), whole);
  }
}

/** Matches a character that separates words: a blank, or an ideographic or full-width sign. */
const beforeWord = /[\s\u3000-\u303f\uff01-\uff0f\uff1a-\uff20]/;
/** Matches the end of a text from its first word with a digit, because a card or telephone number has several words. */
const lastDigits = /(?<!\S)\S*[\d+(].*$/s;
/** Matches the beginning of a quoted password, which may contain blanks. */
const openQuote = /(?:pass(?:word|wd|phrase)|secret|key|token|pwd)["']?\s{0,4}(?::|:?=|\s)\s{0,4}["'][^"']*$/i;
const longestQuote = 1_000;
/** Matches an unfinished first line of a private key. Only the end of that line says what kind of key it is. */
const openKey = /-{1,5}(?:BEGIN [A-Z0-9 ]{0,60})?-{0,5}$/;
const longestKeyLine = 100;

/**
 * Returns how many characters of a text can be shown before the rest of it arrives. The other characters may be the
 * beginning of a secret. `secretAt` is the index from which the text equals the beginning of a known secret.
 */
function settledEnd(text: string, hasOwnPatterns: boolean, secretAt: number): number {
  if (hasOwnPatterns) return Math.max(0, Math.min(secretAt, text.length - longestOfOwnPattern));
  return Math.min(
    secretAt,
    lastWordStart(text),
    matchStart(text, lastDigits, longestOfSeveralWords),
    matchStart(text, openQuote, longestQuote),
    matchStart(text, openKey, longestKeyLine),
  );
}

/** Returns where the expression matches among the last `longest` characters; the text's length without a match. */
function matchStart(text: string, expression: RegExp, longest: number): number {
  const searchedFrom = Math.max(0, text.length - longest);
  const match = expression.exec(text.slice(searchedFrom));
  return match === null ? text.length : searchedFrom + match.index;
}

/** Returns where the last word begins. A loop finds it, because a pattern that ends with `$` takes quadratic time. */
function lastWordStart(text: string): number {
  let start = text.length;
  while (start > 0 && !beforeWord.test(text[start - 1]!)) start -= 1;
  return start;
}
