import type { ConnectionOptions } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { ProblemError } from '../core/base/problem.ts';

/** Options for reaching the Temporal server. Omitted options come from Temporal's environment configuration. */
export interface ServerOptions {
  /** The address, `HOST:PORT`. Default: `TEMPORAL_ADDRESS`, then the profile file, then 127.0.0.1:7233. */
  address?: string;
  /** The namespace. Default: `TEMPORAL_NAMESPACE`, then the profile file, then `default`. */
  namespace?: string;
}

export interface ConnectionSettings {
  address: string;
  namespace: string;
  tls?: ConnectionOptions['tls'];
  apiKey?: string;
  metadata?: Record<string, string>;
}

/**
 * Returns the settings: options first, then Temporal's environment configuration, then the address of `countersign
 * server`. TLS, API key and headers come only from the configuration. Throws `server_unreachable` if it cannot be read.
 */
export function connectionSettings(options: ServerOptions = {}): ConnectionSettings {
  const configured = loadConfigured();
  const { address, tls, apiKey, metadata } = configured.connectionOptions;
  return {
    address: withPort(options.address ?? address ?? '127.0.0.1:7233'),
    namespace: options.namespace ?? configured.namespace ?? 'default',
    tls,
    apiKey: typeof apiKey === 'string' ? apiKey : undefined,
    metadata: metadata as ConnectionSettings['metadata'],
  };
}

/** Reads Temporal's variables and profile file; empty without both. Throws a `ProblemError` if they are unreadable. */
function loadConfigured(): ReturnType<typeof loadClientConnectConfig> {
  try {
    return loadClientConnectConfig();
  } catch (cause) {
    // The SDK throws a `TypeError` for a file without profiles. The file is ignored, unless a profile of it is named.
    const namesProfile = process.env['TEMPORAL_PROFILE'] !== undefined;
    if (cause instanceof TypeError && !namesProfile) return loadClientConnectConfig({ disableFile: true });
    const [reason] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
    const message = `Temporal's environment configuration cannot be read: ${reason}`;
    throw new ProblemError({ code: 'server_unreachable', message }, { cause });
  }
}

/** Adds the default port to an address without one, which the SDK's two connection classes would read differently. */
function withPort(address: string): string {
  return /:\d+$/.test(address) ? address : `${address}:7233`;
}
