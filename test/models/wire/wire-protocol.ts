import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { LanguageModelV4 } from '@ai-sdk/provider';

/** One answer of a wire server. */
export interface WireTurn {
  /** Makes the server answer as a thinking model. */
  reasoning?: string;
  text?: string;
  calls?: { name: string; args: Record<string, unknown> }[];
  finish?: 'length' | 'content-filter';
  /** The id of every call, if the server repeats one (such as `look:0`). Default: ids as the provider writes them. */
  callId?: string;
}

/** A call as the server wrote it. Some servers write no id. */
export interface GivenCall {
  id: string | undefined;
  name: string;
  args: Record<string, unknown>;
}

/** An answer that the server gave. Identifiers follow from its number, so that a later check knows them. */
export interface GivenTurn {
  number: number;
  reasoning: string | undefined;
  text: string;
  calls: readonly GivenCall[];
  finish: WireTurn['finish'];
  /** What proves that the reasoning is the model's own, if the server signs this turn. */
  signature: string | undefined;
  /** The body of the request that it answers. */
  request: unknown;
}

/** One server-sent event. A text is sent as it is. */
export interface WireEvent {
  event?: string;
  data: object | string;
}

/** How one provider writes and checks. */
export interface WireProtocol {
  path: RegExp;
  /** The real client. `thinks`: some turn has reasoning. */
  createModel(url: string, thinks: boolean): LanguageModelV4;
  /** The id of a call; undefined if the provider writes none. */
  callId(turn: number, index: number, thinks: boolean): string | undefined;
  /** The provider signs every turn of a thinking model, with reasoning or without. */
  signsEveryTurn?: true;
  /** Whether a request lets the model think. Default: it always does. */
  letsThink?(body: unknown): boolean;
  wantsStream(body: unknown, path: string): boolean;
  /** One sentence for the first rule that the transcript breaks. */
  check(body: unknown, given: readonly GivenTurn[]): string | undefined;
  refusal(problem: string): object;
  whole(turn: GivenTurn): object;
  events(turn: GivenTurn): WireEvent[];
}

export interface SentCall {
  id: string | undefined;
  name: string;
  args: unknown;
}

/**
 * For the calls of each assistant message of a transcript, the turn of the server that made them. A client may have
 * left out turns and changed ids, so that calls are known by their names and arguments, in order.
 */
export function matchTurns(
  sent: readonly (readonly SentCall[])[],
  given: readonly GivenTurn[],
): (GivenTurn | undefined)[] {
  let next = 0;
  return sent.map((calls) => {
    const candidates = given.filter((turn) => turn.number >= next && sameCalls(turn.calls, calls));
    const sameIds = candidates.find((turn) => turn.calls.every(({ id }, index) => id === calls[index]!.id));
    const match = sameIds ?? candidates[0];
    if (match !== undefined) next = match.number + 1;
    return match;
  });
}

function sameCalls(given: readonly GivenCall[], sent: readonly SentCall[]): boolean {
  const known = (calls: readonly SentCall[]) => calls.map(({ name, args }) => ({ name, args }));
  return given.length > 0 && isDeepStrictEqual(known(given), known(sent));
}

/** Letters and digits that follow from `seed`. At most 40. */
export function identifier(seed: string, length: number): string {
  return createHash('sha512')
    .update(seed)
    .digest('base64')
    .replace(/[^A-Za-z0-9]/g, '')
    .slice(0, length);
}

/** The arguments of a call that are sent as text; undefined if they are not JSON. */
export function parseArguments(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The parts in which a stream sends a text. */
export function pieces(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== '');
}

/** The first problem that a check yields. */
export function firstOf(problems: Iterable<string>): string | undefined {
  for (const problem of problems) return problem;
  return undefined;
}

export function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** The items that are the same as an earlier one. */
export function repeated(items: readonly string[]): string[] {
  return items.filter((item, index) => items.indexOf(item) < index);
}
