/**
 * The events of a run as its policies, from its history, let reviewers see them: no worker is needed, and the same
 * history gives the same events.
 */
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
 * With these codes a run cannot start. Their sentences are Countersign's own and are shown: they quote no call, but at
 * most the agent's name and the policy that the starter sent.
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

  /** False until the run has loaded its policies: its events wait, or show nothing. */
  get isReady(): boolean {
    return this.#policies.version > 0;
  }

  /** Grows whenever more is hidden than before, in earlier events too. */
  get version(): number {
    return this.#policies.version + this.#texts.secrets.size;
  }

  /** Grows with each policy that hides more: then call `note` again for earlier events. */
  get policyVersion(): number {
    return this.#policies.version;
  }

  /** Reads the policies in the next event of the history. The same event may be read twice. */
  learn(event: HistoryEvent): void {
    const { what } = event;
    if (what?.kind === 'started') this.#isAgentRun = what.isAgentRun;
    this.#policies.learn(event);
  }

  /** Searches events for secrets, which are hidden in all events from then on. Call it before any of them is shown. */
  note(events: readonly RecordedEvent[]): void {
    for (const event of events) {
      if (event.type !== 'RunItemEvent') continue;
      const { item } = event;
      if (item.type !== 'tool_call' && item.type !== 'tool_result') continue;
      if (item.arguments !== undefined) this.#texts.note(item.toolName, item.arguments);
    }
  }

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

  /** The redacted part of an unfinished text that may be shown; undefined if none may be. */
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

  /** The request with placeholders in every text about its call; without its arguments if the policies hide all. */
  #request(event: ApprovalRequestEvent): ApprovalRequestEvent {
    const { toolName, arguments: args, contextSummary, sentence, assessment, advice, shownArguments } = event;
    if (this.#texts.hidesAll) return withoutArguments(event);
    const found = this.#texts.args(toolName, args)!;
    const redacted = [...new Set([...(event.redacted ?? []), ...found.names])];
    const beside = (texts: string[]): string[] => texts.map((text) => this.#texts.beside(text));
    return {
      ...event,
      arguments: found.shown as JsonObject,
      contextSummary: this.#texts.text(contextSummary),
      ...(sentence !== undefined && { sentence: this.#texts.beside(sentence) }),
      ...(redacted.length > 0 && { redacted }),
      ...(assessment !== undefined && {
        assessment: {
          ...assessment,
          reasons: beside(assessment.reasons),
          affectedResources: beside(assessment.affectedResources),
          recommendations: beside(assessment.recommendations),
          ...(assessment.fromWorker !== undefined && { fromWorker: beside(assessment.fromWorker) }),
        },
      }),
      ...(advice !== undefined && {
        advice: advice.map((each) => ({
          ...each,
          ...(each.reason !== undefined && { reason: this.#texts.beside(each.reason) }),
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

  /** The structured output with its text redacted; empty if the redacted text is no longer JSON. */
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

/** As a policy with `include_arguments: false` shows a request. */
function withoutArguments(event: ApprovalRequestEvent): ApprovalRequestEvent {
  const { assessment = defaultAssessment(event.riskLevel), reviewers = [] } = event;
  const hidden = hideInRequest({ ...event, assessment, reviewers });
  const { sentence: _, shownArguments: __, notShown: ___, redacted: ____, ...rest } = hidden;
  return rest;
}

/**
 * The longest text that is redacted while it is written, because each new part is searched with all earlier ones. A
 * longer answer is shown only when it is complete.
 */
const mostWritten = 64_000;
/** The longest match of a built-in pattern of several words, and of a policy's custom pattern. */
const longestOfSeveralWords = 80;
const longestOfOwnPattern = 1_000;

/** Redacts an unfinished text. Its end is not shown while it may begin a secret. */
class TailRedactor {
  readonly #redactor: TextRedactor;
  #turn = 0;
  #attempt = 0;
  #written = '';
  #shown = '';
  /** True if no further part of this answer can be shown. */
  #hasLost = false;

  constructor(redactor: TextRedactor) {
    this.#redactor = redactor;
  }

  /** The redacted text so far, in which the offset counts. Undefined: nothing can be shown yet. */
  next(turn: number, { attempt, offset, tail }: TokenTail): TokenTail | undefined {
    if (turn !== this.#turn || attempt !== this.#attempt) {
      [this.#turn, this.#attempt, this.#written, this.#shown, this.#hasLost] = [turn, attempt, '', '', false];
    }
    // A part before this text was missed, so this text may begin with the rest of a secret.
    this.#hasLost ||= offset > this.#written.length || offset + tail.length > mostWritten;
    if (!this.#hasLost) {
      this.#written += tail.slice(this.#written.length - offset);
      const shown = this.#shownOf(this.#written);
      // If less can be shown than before, keep what is shown: the next part may still extend a secret.
      const isLess = shown !== undefined && this.#shown.startsWith(shown);
      this.#hasLost = shown === undefined || (!isLess && !shown.startsWith(this.#shown));
      if (!this.#hasLost && !isLess) this.#shown = shown!;
    }
    return this.#shown === '' ? undefined : tokenTail(attempt, this.#shown);
  }

  #shownOf(text: string): string | undefined {
    const spans = this.#redactor.spansOf(text);
    if (spans === undefined) return undefined;
    const { settings } = this.#redactor.policies;
    if (settings === undefined) return text;
    const end = settledEnd(text, settings.patterns.length > 0, this.#redactor.secrets.beginsAt(text));
    const cut = spans.find(([start, until]) => start < end && until > end)?.[0] ?? end;
    const whole = spans.filter(([, until]) => until <= cut);
    return withPlaceholders(text.slice(0, cut), whole);
  }
}

/** The characters before a word: a blank, or an ideographic or full-width sign. */
const beforeWord = /[\s\u3000-\u303f\uff01-\uff0f\uff1a-\uff20]/;
/** The end that may be part of a card, account or telephone number: from the first word with a digit. */
const lastDigits = /(?<!\S)\S*[\d+(].*$/s;
/** The beginning of a quoted password, which may have several words. */
const openQuote = /(?:pass(?:word|wd|phrase)|secret|key|token|pwd)["']?\s{0,4}(?::|:?=|\s)\s{0,4}["'][^"']*$/i;
const longestQuote = 1_000;
/** Nothing of a key's first line is shown before its end shows the kind of the key. */
const openKey = /-{1,5}(?:BEGIN [A-Z0-9 ]{0,60})?-{0,5}$/;
const longestKeyLine = 100;

/** How much of a text is certainly no part of a secret, however it goes on. */
function settledEnd(text: string, hasOwnPatterns: boolean, secretAt: number): number {
  if (hasOwnPatterns) return Math.max(0, Math.min(secretAt, text.length - longestOfOwnPattern));
  const indexOf = (expression: RegExp, start: number): number => {
    const found = expression.exec(text.slice(start));
    return found === null ? text.length : start + found.index;
  };
  return Math.min(
    secretAt,
    lastWordStart(text),
    indexOf(lastDigits, Math.max(0, text.length - longestOfSeveralWords)),
    indexOf(openQuote, Math.max(0, text.length - longestQuote)),
    indexOf(openKey, Math.max(0, text.length - longestKeyLine)),
  );
}

/** A loop: a regular expression that ends with `$` takes quadratic time here. */
function lastWordStart(text: string): number {
  let start = text.length;
  while (start > 0 && !beforeWord.test(text[start - 1]!)) start -= 1;
  return start;
}
