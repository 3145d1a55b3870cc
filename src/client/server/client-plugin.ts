import type { ClientInterceptors, ClientOptions, ClientPlugin } from '@temporalio/client';
import { checkCallOptions } from '../../text/check-call-options.ts';
import { requireOneSdk } from '../../connection/one-sdk.ts';
import { withOwnConverter } from '../../connection/own-converter.ts';
import { ProblemError } from '../../core/base/problem.ts';
import { type LargePayloads, largePayloadsOf, withStorage } from '../../payload-folder/large-payloads.ts';
import { AskPast } from './ask-past.ts';
import { ReadingCodec } from './reading-codec.ts';
import { timeLimits } from './time-limits.ts';

/** Options of `CountersignClientPlugin`. */
export interface ClientPluginOptions {
  /**
   * The folder in which the workers keep large payloads; the client reads them there and stores large ones. Default:
   * `COUNTERSIGN_PAYLOAD_FOLDER`; `false`: no folder, whatever the variable says.
   */
  largePayloads?: LargePayloads | false;
  /**
   * For how many milliseconds a query is repeated while its run cannot answer yet, at least 6,000. Default:
   * `COUNTERSIGN_QUERY_TIMEOUT`, else 5,000.
   */
  queryTimeoutMs?: number;
}

/**
 * A plugin for a Temporal `Client` of your own that reads runs or sends messages to them. `createClient` uses it too. It
 * sets the payload converter, and the external storage where none is set, and adds a workflow interceptor after yours: it
 * repeats queries while a continued run verifies what it carried, or while its events wait for a workflow task. Your
 * payload codecs stay; a payload that they cannot decode is read as undecodable instead of throwing. The namespace is the
 * client's.
 *
 * Throws `internal` with one sentence for an unknown option, and for an invalid `largePayloads` or `queryTimeoutMs`. So does
 * the client for a folder that cannot be used, a `payloadConverterPath` of its own, `interceptors.workflow` that is not a list,
 * and two copies of Temporal's SDK.
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

function withAskPast(given: ClientInterceptors | undefined, askPast: AskPast): ClientInterceptors {
  const { workflow = [] } = given ?? {};
  if (Array.isArray(workflow)) {
    return { ...given, workflow: [...workflow.filter((each) => !(each instanceof AskPast)), askPast] };
  }
  throw new ProblemError({
    code: 'internal',
    message: 'countersign adds an interceptor to the client: write interceptors.workflow as a list.',
  });
}
