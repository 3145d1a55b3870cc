import type { Payload, PayloadCodec } from '@temporalio/common';
import { checkCallOptions } from '../text/check-call-options.ts';
import { ProblemError } from '../core/base/problem.ts';
import { payloadFromJson, payloadToJson } from './codec-server.ts';

/** Options of `RemoteCodec`. */
export interface RemoteCodecOptions {
  /** The URL of the codec server; `/encode` and `/decode` are appended. */
  endpoint: string;
  /** Sent as `X-Namespace`. */
  namespace: string;
  /** Sent as `Authorization`. */
  authorization?: string;
  /** How long one call may take, in milliseconds. Default 10,000. */
  timeoutMs?: number;
}

/**
 * A payload codec that calls a codec server of Temporal's protocol, such as the one that the Temporal CLI uses. It is
 * for clients: a worker should not depend on an HTTP call in each workflow task. Throws `internal` for an `endpoint`
 * that is not an http or https URL, and for an unknown option. A response that is not a list of payloads is an error of
 * the call.
 *
 * @example
 * ```ts
 * import { createClient } from 'countersign/client';
 * import { RemoteCodec } from 'countersign/codec';
 *
 * const codec = new RemoteCodec({ endpoint: 'http://127.0.0.1:8081', namespace: 'default' });
 * const client = await createClient({ dataConverter: { payloadCodecs: [codec] } });
 * const [server] = await client.check();
 * console.log(server?.isOk); // true
 * await client.close();
 * ```
 */
export class RemoteCodec implements PayloadCodec {
  readonly #endpoint: string;
  readonly #headers: Record<string, string>;
  readonly #timeoutMs: number;

  constructor(options: RemoteCodecOptions) {
    const names = { endpoint: true, namespace: true, authorization: true, timeoutMs: true } as const;
    checkCallOptions('RemoteCodec', options, names, 'internal');
    const { endpoint, namespace, authorization, timeoutMs = 10_000 } = options;
    if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? '')) {
      const message = `'${endpoint}' is not the address of a codec server: write an http or https URL.`;
      throw new ProblemError({ code: 'internal', message });
    }
    this.#endpoint = endpoint.replace(/\/+$/, '');
    this.#headers = {
      'Content-Type': 'application/json',
      'X-Namespace': namespace,
      ...(authorization !== undefined && { Authorization: authorization }),
    };
    this.#timeoutMs = timeoutMs;
  }

  encode(payloads: Payload[]): Promise<Payload[]> {
    return this.#ask('encode', payloads);
  }

  decode(payloads: Payload[]): Promise<Payload[]> {
    return this.#ask('decode', payloads);
  }

  /**
   * The payloads that the codec server returns, as many as were sent. Throws if it does not answer so; the task is then
   * retried.
   */
  async #ask(path: 'encode' | 'decode', payloads: Payload[]): Promise<Payload[]> {
    const url = `${this.#endpoint}/${path}`;
    let response: Response;
    try {
      response = await fetch(url, {
        method: 'POST',
        headers: this.#headers,
        body: JSON.stringify({ payloads: payloads.map(payloadToJson) }),
        signal: AbortSignal.timeout(this.#timeoutMs),
      });
    } catch (cause) {
      throw new Error(`the codec server ${url} does not answer`, { cause });
    }
    if (!response.ok) throw new Error(`the codec server ${url} answers with status ${response.status}`);
    const answer = (await response.json().catch(() => undefined)) as { payloads?: unknown } | undefined;
    const listed: unknown[] = Array.isArray(answer?.payloads) ? answer.payloads : [];
    const read = listed.map(payloadFromJson).filter((payload) => payload !== undefined);
    if (read.length === payloads.length) return read;
    throw new Error(`the codec server ${url} does not answer with ${payloads.length} payloads`);
  }
}
