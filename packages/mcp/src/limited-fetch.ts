import type { FetchLike } from '@modelcontextprotocol/client';

/**
 * A `fetch` whose answers end with an error after `maxBytes`. It opens no stream by GET, by which a server would send what
 * nobody asked for: it answers with 405, as a server without such a stream does.
 */
export function limitedFetch(maxBytes: number): FetchLike {
  return async (url, init) => {
    if ((init?.method ?? 'GET') === 'GET') return new Response(undefined, { status: 405 });
    const answer = await fetch(url, init);
    if (answer.body === null) return answer;
    const { status, statusText, headers } = answer;
    return new Response(answer.body.pipeThrough(limit(maxBytes)), { status, statusText, headers });
  };
}

function limit(maxBytes: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) controller.error(new Error(`an answer has more than ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
