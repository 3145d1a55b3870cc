import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from './listen.ts';

/** A request that a service got. */
export interface ServedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** An HTTP service on 127.0.0.1 that keeps what it gets. */
export interface HttpServiceInTest {
  url: string;
  requests: ServedRequest[];
  /** How often somebody looked whether it is there, which is no request. */
  looks: number;
  /** What it answers; a `body` of undefined never comes. Default 202 and `{}`. */
  answer: { status: number; body?: string; headers?: Record<string, string> };
  /** Its answer to a body. Default: `answer`. */
  answerTo?: ((body: string) => HttpServiceInTest['answer']) | undefined;
  stop(): Promise<void>;
}

export async function openHttpService(): Promise<HttpServiceInTest> {
  const requests: ServedRequest[] = [];
  const server = createServer((request, response) => {
    if (request.method === 'HEAD') {
      service.looks += 1;
      return void response.end();
    }
    void text(request).then((body) => {
      requests.push({ method: request.method!, path: request.url!, headers: request.headers, body });
      const { status, body: answer, headers } = service.answerTo?.(body) ?? service.answer;
      response.writeHead(status, headers);
      if (answer === undefined) response.flushHeaders();
      else response.end(answer);
    });
  });
  const { url, close } = await listen(server);
  const service: HttpServiceInTest = {
    url,
    requests,
    looks: 0,
    answer: { status: 202, body: '{}' },
    stop: close,
  };
  return service;
}
