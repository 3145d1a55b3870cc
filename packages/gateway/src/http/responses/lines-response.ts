/**
 * An answer of one line of JSON for each value. The first value is awaited, so that a problem before it is one; an error
 * after it breaks the connection, so that nobody takes a part for the whole.
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
