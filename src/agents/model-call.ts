import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { ModelCallLimits } from '../core/policy/run-config.ts';
import { checkOptions, checkPositiveInteger, DefinitionError } from './check-options.ts';
import { isObject } from '../core/base/json.ts';

/**
 * How the model of an agent is called. A run records the time-outs and attempts when it starts; the other options come
 * from the worker that makes the call. Some providers ignore some options.
 */
export interface ModelCallOptions extends ModelCallLimits {
  /** `auto` (default): a worker asks for streamed answers until the model's server turns out not to stream. */
  stream?: 'auto' | 'on' | 'off';
  temperature?: number;
  topP?: number;
  /** The most tokens of one answer. */
  maxOutputTokens?: number;
  stopSequences?: string[];
  seed?: number;
  /** How much the model reasons before it answers, such as `low`. */
  reasoning?: LanguageModelV4CallOptions['reasoning'];
  /** HTTP headers that are sent with each request and never written to history. */
  headers?: Record<string, string>;
  /** Options for providers, by the name of the provider; its documentation lists them. */
  providerOptions?: LanguageModelV4CallOptions['providerOptions'];
}

const mostAttempts = 1_000;
const longestMs = 24 * 3_600_000;
const limits = {
  timeoutMs: longestMs,
  heartbeatTimeoutMs: longestMs,
  maxAttempts: mostAttempts,
} as const satisfies Record<keyof ModelCallLimits, number>;

const streamings: unknown[] = ['auto', 'on', 'off'];

/** For each option except the limits: the expected value in words, and a function that checks it. */
const settings = {
  stream: ["'auto', 'on' or 'off'", (value) => streamings.includes(value)],
  temperature: ['a number', Number.isFinite],
  topP: ['a number', Number.isFinite],
  maxOutputTokens: ['a whole number from 1', (value) => Number.isSafeInteger(value) && (value as number) >= 1],
  stopSequences: [
    'a list of texts',
    (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
  ],
  seed: ['a whole number', Number.isSafeInteger],
  reasoning: ['a text', (value) => typeof value === 'string'],
  headers: ['names and values of HTTP headers', areHeaders],
  providerOptions: [
    'an object of options by provider',
    (value) => isObject(value) && Object.values(value).every(isObject),
  ],
} satisfies Record<Exclude<keyof ModelCallOptions, keyof ModelCallLimits>, [string, (value: unknown) => boolean]>;

/** Throws a `DefinitionError`, one sentence, for options that are unknown or have a wrong value. */
export function checkModelCall(place: string, options: ModelCallOptions): void {
  checkOptions(place, options, [...Object.keys(limits), ...Object.keys(settings)]);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (name in limits) checkPositiveInteger(`${place}.${name}`, value, limits[name as keyof typeof limits]);
    else {
      const [expected, fits] = settings[name as keyof typeof settings];
      if (!fits(value)) throw new DefinitionError(`${place}.${name}: expected ${expected}`);
    }
  }
}

/** Returns the options that a run records in history; the others stay out, because they may contain secrets. */
export function recordedLimits({ timeoutMs, heartbeatTimeoutMs, maxAttempts }: ModelCallOptions): ModelCallLimits {
  return { timeoutMs, heartbeatTimeoutMs, maxAttempts };
}

export function settingsOf(options: ModelCallOptions): Omit<ModelCallOptions, keyof ModelCallLimits | 'stream'> {
  const { timeoutMs: _t, heartbeatTimeoutMs: _h, maxAttempts: _m, stream: _s, ...rest } = options;
  return rest;
}

/** True if `fetch` accepts the headers. Otherwise each request would fail with an error that quotes them. */
function areHeaders(value: unknown): boolean {
  if (!isObject(value) || !Object.values(value).every((each) => typeof each === 'string')) return false;
  try {
    void new Headers(value as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
