import { request } from 'node:http';

/** An answer as it came, whatever its status. */
export interface RawAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** Sends a request with exactly these headers: `Host` and those of browsers too, which `fetch` sets itself. */
export function rawRequest(
  url: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<RawAnswer> {
  const answered = Promise.withResolvers<RawAnswer>();
  const sent = request(url, { method, headers, setHost: headers.host === undefined }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      answered.resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
    });
    response.on('error', answered.reject);
  });
  sent.on('error', answered.reject);
  sent.end(body);
  return answered.promise;
}
