import type {
  ClientInterceptors,
  ClientOptions,
  ClientPlugin,
  WorkflowClientInterceptor,
  WorkflowQueryInput,
} from '@temporalio/client';
import { QueryNotRegisteredError, QueryRejectedError } from '@temporalio/client';
import { checkCallOptions } from '../../text/check-call-options.ts';
import { requireOneSdk } from '../../connection/one-sdk.ts';
import { withOwnConverter } from '../../connection/own-converter.ts';
import { ProblemError } from '../../core/base/problem.ts';
import { type LargePayloads, largePayloadsOf, withStorage } from '../../payload-folder/large-payloads.ts';
import { timeLimits } from './time-limits.ts';
import proto from '@temporalio/proto';
import { sentences } from '../../core/ledger/sentences.ts';
import { lookUp } from './look-up.ts';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { unreadPayload } from '../../connection/server-error.ts';
import { keyIdName, unreadEncoding } from '../../core/base/undecodable.ts';

/** Options of `CountersignClientPlugin`. */
export interface ClientPluginOptions {
  /** The workers' folder of large payloads; `false` for none. Default: the folder in `COUNTERSIGN_PAYLOAD_FOLDER`. */
  largePayloads?: LargePayloads | false;
  /** How long a query is repeated while a run cannot answer, in milliseconds: 6,000 or more. Default: as a client. */
  queryTimeoutMs?: number;
}

/**
 * A plugin for your own Temporal `Client`, with which it can read runs and send messages to them. The plugin sets the
 * payload converter and, where none is set, the external storage. After your interceptors it adds one that repeats a
 * query while a run cannot answer yet. Your codecs stay; a payload that they cannot decode is read as undecodable.
 *
 * Throws `internal` for an invalid option. The client then throws it for a folder that cannot be used, a
 * `payloadConverterPath` of its own, `interceptors.workflow` that is not a list, and two copies of Temporal's SDK.
 *
 * @example
 * ```ts
 * import { Client, Connection } from '@temporalio/client';
 * import { loadClientConnectConfig } from '@temporalio/envconfig';
 * import { queryNames, type RunStatus } from 'countersign';
 * import { CountersignClientPlugin } from 'countersign/client';
 *
 * const { connectionOptions, namespace } = loadClientConnectConfig();
 * const connection = await Connection.connect(connectionOptions);
 * const client = new Client({ connection, namespace, plugins: [new CountersignClientPlugin()] });
 * const query = 'ApprovalTags = "tool:refund" AND ExecutionStatus = "Running"';
 * for await (const { workflowId } of client.workflow.list({ query })) {
 *   const { status } = await client.workflow.getHandle(workflowId).query<RunStatus>(queryNames.run);
 *   console.log(status); // waiting
 * }
 * await connection.close();
 * ```
 */
export class CountersignClientPlugin implements ClientPlugin {
  readonly name = 'countersign';
  readonly #largePayloads: Required<LargePayloads> | undefined;
  readonly #askPast: AskPast;

  constructor(options: ClientPluginOptions = {}) {
    checkCallOptions('CountersignClientPlugin', options, { largePayloads: true, queryTimeoutMs: true }, 'internal');
    this.#largePayloads = largePayloadsOf(options.largePayloads);
    this.#askPast = new AskPast(timeLimits(options).queryTimeoutMs);
  }

  /** Adds the converter, the storage and the interceptor to the options of a client. The client calls it. */
  configureClient(options: ClientOptions): ClientOptions {
    requireOneSdk();
    const { dataConverter: given, interceptors, namespace = 'default' } = options;
    const dataConverter = withOwnConverter(given);
    const payloadCodecs = [new ReadingCodec(dataConverter.payloadCodecs ?? [])];
    return {
      ...options,
      dataConverter: withStorage({ ...dataConverter, payloadCodecs }, this.#largePayloads, namespace, 'unread'),
      interceptors: withAskPast(interceptors, this.#askPast),
    };
  }
}

/** Adds the interceptor after the others, in the place of one that an earlier call has added. */
function withAskPast(given: ClientInterceptors | undefined, askPast: AskPast): ClientInterceptors {
  const { workflow = [] } = given ?? {};
  if (Array.isArray(workflow)) {
    return { ...given, workflow: [...workflow.filter((each) => !(each instanceof AskPast)), askPast] };
  }
  const message = 'countersign adds an interceptor to the client: write interceptors.workflow as a list.';
  throw new ProblemError({ code: 'internal', message });
}

type Query = NonNullable<WorkflowClientInterceptor['query']>;

/** The least time limit: longer than a worker waits for a task that the server may withdraw (`untaken-events.ts`). */
const leastMs = 6_000;

const { QUERY_REJECT_CONDITION_NOT_OPEN: ifOpen } = proto.temporal.api.enums.v1.QueryRejectCondition;

/**
 * Repeats queries that a run cannot answer yet: it still verifies the state of the execution before, or no workflow
 * task has processed its last events. Gives up after `queryTimeoutMs`, but not before six seconds.
 */
export class AskPast implements WorkflowClientInterceptor {
  readonly #longestMs: number;

  constructor(queryTimeoutMs: number) {
    this.#longestMs = Math.max(queryTimeoutMs, leastMs);
  }

  /** Repeats a query that came too early; when the time is up, throws the last refusal. */
  async query(input: WorkflowQueryInput, next: Parameters<Query>[1]): Promise<unknown> {
    let refusal: unknown;
    let ask: Query = async (query, goOn) => goOn(query);
    const answer = await lookUp(async () => {
      try {
        return { value: await ask(input, next) };
      } catch (error) {
        // A closed run may never process its last events. The next attempt finds out whether it answers.
        if (isNotTakenYet(error)) ask = askIfOpen;
        else if (!isNotTakenUp(error)) throw error;
        refusal = error;
        return undefined;
      }
    }, this.#longestMs);
    if (answer === undefined) throw refusal;
    return answer.value;
  }
}

/**
 * Queries a closed run once more. A completed run answers, because its events were processed. A terminated run may
 * never process its last events, so this function throws `run_closed` for it.
 */
const askIfOpen: Query = async (input, next) => {
  try {
    return await next({ ...input, queryRejectCondition: ifOpen });
  } catch (error) {
    if (!(error instanceof QueryRejectedError)) throw error;
  }
  try {
    return await next(input);
  } catch (error) {
    if (!isNotTakenYet(error)) throw error;
    const { workflowId } = input.workflowExecution;
    throw new ProblemError({ code: 'run_closed', message: sentences.endedUntaken(workflowId) }, { cause: error });
  }
};

export function isNotTakenUp(error: unknown): boolean {
  return saysInAnswer(error, sentences.notTakenUp);
}

export function isNotTakenYet(error: unknown): boolean {
  return saysInAnswer(error, sentences.notTakenYet);
}

function saysInAnswer(error: unknown, sentence: string): boolean {
  // The SDK throws this class for every failure of a query.
  return error instanceof QueryNotRegisteredError && error.message.includes(sentence);
}

/** The encodings that a payload converter reads without a codec, and Countersign's own encoding of unread payloads. */
const readEncodings = ['binary/null', 'binary/plain', 'json/plain', 'json/protobuf', 'binary/protobuf', unreadEncoding];

type Context = Parameters<PayloadCodec['decode']>[1];

/**
 * Replaces each payload that the codecs cannot decode with one that reads as undecodable. Otherwise Temporal's client
 * would throw for an unreadable answer: a decision would count, and would be reported as failed.
 */
export class ReadingCodec implements PayloadCodec {
  readonly #codecs: readonly PayloadCodec[];

  constructor(codecs: readonly PayloadCodec[]) {
    this.#codecs = codecs;
  }

  async encode(payloads: Payload[], context?: Context): Promise<Payload[]> {
    let encoded = payloads;
    for (const codec of this.#codecs) encoded = await codec.encode(encoded, context);
    return encoded;
  }

  async decode(payloads: Payload[], context?: Context): Promise<Payload[]> {
    const decoded = await this.#decodeAll(payloads, context).catch(() => undefined);
    if (decoded !== undefined) return decoded.map((each, index) => readable(each, payloads[index]));
    // Decode several payloads one by one if one of them fails, so that the others are still read.
    if (payloads.length === 1) return [unreadPayload('encoded', keyIdOf(payloads[0]))];
    return Promise.all(payloads.map(async (payload) => (await this.decode([payload], context))[0]!));
  }

  async #decodeAll(payloads: Payload[], context: Context): Promise<Payload[]> {
    let decoded = payloads;
    for (const codec of this.#codecs.toReversed()) decoded = await codec.decode(decoded, context);
    return decoded;
  }
}

/** Returns a decoded payload, or an unread one if it is still encoded: by a codec of another kind, or another key. */
function readable(payload: Payload, encoded: Payload | undefined): Payload {
  const encoding = metadataText(payload, 'encoding');
  const isOfOtherKey = encoding === unreadEncoding && Buffer.from(payload.data ?? []).toString() === 'encoded';
  if (!isOfOtherKey && (encoding === '' || readEncodings.includes(encoding))) return payload;
  return unreadPayload('encoded', keyIdOf(encoded));
}

function keyIdOf(payload: Payload | undefined): string | undefined {
  const id = metadataText(payload, keyIdName);
  return /^[\w.-]{1,64}$/.test(id) ? id : undefined;
}

function metadataText(payload: Payload | undefined, name: string): string {
  return Buffer.from(payload?.metadata?.[name] ?? []).toString();
}
