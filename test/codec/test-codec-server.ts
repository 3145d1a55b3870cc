import { createServer } from 'node:http';
import type { PayloadCodec } from '@temporalio/common';
import { codecServer, type CodecServerOptions } from '../../src/codec.ts';
import { listen } from '../support/listen.ts';

export interface CodecServer {
  endpoint: string;
  /** The path, namespace and authorization of each call. */
  calls: { path: string; namespace: string | undefined; authorization: string | undefined }[];
  close(): Promise<void>;
}

/** `codecServer` on a port of its own. It refuses calls without this authorization. */
export async function startCodecServer(
  codec: PayloadCodec,
  authorize: CodecServerOptions['authorize'],
  uiOrigin = 'http://127.0.0.1:8233',
): Promise<CodecServer> {
  const calls: CodecServer['calls'] = [];
  const answer = codecServer({ codec, authorize, uiOrigin });
  const server = createServer((request, response) => {
    const { url: path = '', headers } = request;
    calls.push({ path, namespace: headers['x-namespace'] as string | undefined, authorization: headers.authorization });
    answer(request, response);
  });
  const { url: endpoint, close } = await listen(server);
  return { endpoint, calls, close };
}
