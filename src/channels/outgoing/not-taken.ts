import type { Json } from '../../core/base/tool-call.ts';
import { ProblemError, type Problem } from '../../core/base/problem.ts';
import { argumentBytes as bytesOf } from '../../core/ledger/hidden-arguments.ts';
import { shownName } from '../../text/visible-text.ts';
import type { ChannelRequest } from '../channel.ts';

/** The longest retry delay that a receiver can request, in milliseconds. */
const longestWaitMs = 3_600_000;

/** The error for a message that the receiver did not accept. */
export class NotTaken extends ProblemError {
  /** The retry delay that the receiver requests, limited to an hour; undefined if it requests none. */
  readonly retryAfterMs: number | undefined;
  /** True if the receiver refuses the size or the form of the message, so that it may accept a shorter one. */
  readonly refusesMessage: boolean;
  /** True if the receiver also refuses the short form, so that a retry is useless. */
  readonly isFinal: boolean;

  constructor(problem: Problem, { retryAfterMs, refusesMessage = false, isFinal = false, cause }: Partial<NotTaken>) {
    super(problem, { cause });
    this.retryAfterMs = retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, longestWaitMs);
    this.refusesMessage = refusesMessage;
    this.isFinal = isFinal;
  }
}

/** The error for a message that reached only some recipients. A retry with `sent` sends it only to the others. */
export class PartlySent extends Error {
  readonly sent: Json;

  constructor(sent: Json, cause: unknown) {
    super(errorText(cause), { cause });
    this.sent = sent;
  }
}

/** Returns the message of an error, and any other thrown value as a text. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function retryAfterOf(error: unknown): number | undefined {
  return error instanceof NotTaken ? error.retryAfterMs : undefined;
}

/** Reads a `Retry-After` header (RFC 9110: seconds or a date). Returns milliseconds; undefined if absent or invalid. */
export function readRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined || header.length > 40) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1_000;
  const waitMs = Date.parse(header) - nowMs;
  return waitMs > 0 ? waitMs : undefined;
}

/** Sends a message in full and, if the receiver refuses its content, in its short form. A second refusal is final. */
export async function inFullOrShort<Result>(send: (isShort: boolean) => Promise<Result>): Promise<Result> {
  try {
    return await send(false);
  } catch (error) {
    if (!(error instanceof NotTaken && error.refusesMessage)) throw error;
  }
  try {
    return await send(true);
  } catch (error) {
    if (!(error instanceof NotTaken && error.refusesMessage)) throw error;
    const message = `${error.message} It refuses the short form of the message, too.`;
    throw new NotTaken({ code: error.code, message }, { isFinal: true, cause: error });
  }
}

const mostNames = 5;

/** A copy of the request without its large parts. It keeps the digest, and the names and the size of the arguments. */
export function shortRequest(request: ChannelRequest): ChannelRequest {
  const { argumentNames = Object.keys(request.arguments), argumentBytes = bytesOf(request.arguments) } = request;
  const without = { schema: undefined, preview: undefined, advice: undefined, userMessages: undefined };
  const texts = { sentence: undefined, shownArguments: undefined, notShown: undefined, contextSummary: '' };
  return { ...request, ...without, ...texts, metadata: {}, arguments: {}, argumentNames, argumentBytes, shown: 'part' };
}

/** A sentence of at most 600 characters with agent, tool, names and size of the arguments, and the digest. */
export function shortSentence(request: ChannelRequest): string {
  const { agentName, toolName, digest, argumentNames = [], argumentBytes = 0 } = shortRequest(request);
  const names = argumentNames.slice(0, mostNames).map(shownName);
  const more = argumentNames.length - names.length;
  const listed = [...names, ...(more > 0 ? [`${more} more`] : [])].join(', ');
  return `${shownName(agentName)} asks to call ${shownName(toolName)}(${listed}): ${argumentBytes} bytes of arguments, digest ${digest.slice(0, 12)}.`;
}
