import { connectionSettings } from 'countersign/adapter';
import type { ClientOptions } from 'countersign/client';
import { type ConnectionOptions, requireAddress } from './connection-options.ts';
import { loadClientConfig } from './load-config.ts';

/** The flags that configure a client. */
export interface ClientSettings extends ConnectionOptions {
  config?: string;
  codecEndpoint?: string;
  codecAuth?: string;
}

/**
 * The options of a client: flags over the module `countersign.config`, and that over the environment. A codec server
 * replaces the codecs of the module.
 */
export async function clientOptions(options: ClientSettings & { taskQueue?: string }): Promise<ClientOptions> {
  requireAddress(options);
  const config = await loadClientConfig(options.config);
  const { address = config.address, namespace = config.namespace, taskQueue = config.taskQueue } = options;
  const { TEMPORAL_CODEC_ENDPOINT, TEMPORAL_CODEC_AUTH } = process.env;
  const { codecEndpoint: endpoint = TEMPORAL_CODEC_ENDPOINT, codecAuth: authorization = TEMPORAL_CODEC_AUTH } = options;
  if (endpoint === undefined) return { ...config, address, namespace, taskQueue };
  const { RemoteCodec } = await import('countersign/codec');
  const { namespace: used } = connectionSettings({ address, namespace });
  const payloadCodecs = [new RemoteCodec({ endpoint, namespace: used, authorization })];
  return { ...config, address, namespace, taskQueue, dataConverter: { ...config.dataConverter, payloadCodecs } };
}
