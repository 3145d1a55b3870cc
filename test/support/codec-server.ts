import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { PayloadCodec } from '@temporalio/common';
import { payloadFromJson, payloadToJson } from '../../src/codec/payload-json.ts';

export interface CodecServer {
  endpoint: string;
  /** The path, namespace and authorization of each call. */
  calls: { path: string; namespace: string | undefined; authorization: string | undefined }[];
  close(): Promise<void>;
}

/** A codec server of Temporal's protocol. With `authorization`, it refuses calls without it. */
export async function startCodecServer(codec: PayloadCodec, authorization?: string): Promise<CodecServer> {
  const calls: CodecServer['calls'] = [];
  const server = createServer((request, response) => {
    const { url: path = '', headers } = request;
    calls.push({ path, namespace: headers['x-namespace'] as string | undefined, authorization: headers.authorization });
    const answer = async (): Promise<void> => {
      if (authorization !== undefined && headers.authorization !== authorization) {
        response.writeHead(401).end();
        return;
      }
      const { payloads = [] } = (await json(request)) as { payloads?: unknown[] };
      const read = payloads.map((payload) => payloadFromJson(payload)!);
      const done = await (path === '/encode' ? codec.encode(read) : codec.decode(read));
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ payloads: done.map(payloadToJson) }));
    };
    answer().catch(() => response.writeHead(500).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    close: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}
