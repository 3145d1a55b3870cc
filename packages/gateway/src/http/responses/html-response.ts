import { cardStyle, htmlPage, pagePolicy } from 'countersign/card';

const style = `${cardStyle}
.card form { margin-top: 1.5rem; display: grid; gap: .75rem; }
.card label { display: grid; gap: .25rem; color: var(--soft); }
.card input, .card textarea { padding: .6rem .7rem; border: 1px solid var(--soft); border-radius: .5rem; font: inherit;
  color: var(--ink); background: var(--paper); }
.card button { padding: .7rem 1.1rem; min-height: 2.75rem; border: 1px solid var(--ink); border-radius: .5rem; font: inherit;
  color: var(--paper); background: var(--ink); cursor: pointer; }
.card button.plain { color: var(--ink); background: var(--paper); }
.card .answers { display: flex; flex-wrap: wrap; gap: .75rem; }
.card a { color: inherit; }
`;

/** A page that the gateway makes itself: without scripts, in the style of cards. `body` is HTML, `title` is text. */
export function htmlResponse(
  title: string,
  body: string,
  status = 200,
  headers: Record<string, string> = {},
): Response {
  return new Response(htmlPage({ title, style, body, forms: true }), {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `${pagePolicy({ style, forms: true })}; frame-ancestors 'none'`,
      ...headers,
    },
  });
}

/** True if the sender is a browser that shows a page, not a program that reads an answer. */
export function wantsHtml(request: Request): boolean {
  return (request.headers.get('accept') ?? '').includes('text/html');
}

/**
 * A response with one line of JSON for each value. The first value is awaited, so that an earlier problem is a problem
 * response; a later error breaks the connection, so that a part does not pass for the whole.
 */
export async function linesResponse(values: AsyncIterable<unknown>): Promise<Response> {
  const iterator = values[Symbol.asyncIterator]();
  let next = await iterator.next();
  const encoder = new TextEncoder();
  const lines = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      if (next.done === true) return controller.close();
      controller.enqueue(encoder.encode(`${JSON.stringify(next.value)}\n`));
      next = await iterator.next();
    },
    cancel: async () => {
      await iterator.return?.();
    },
  });
  return new Response(lines, { headers: { 'content-type': 'application/jsonl' } });
}
