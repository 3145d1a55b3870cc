/**
 * What a web page does: it follows a run over server-sent events of the gateway, and answers with a POST.
 *
 *   countersign worker examples/channels/shop.ts
 *   countersign gateway
 *   countersign run shop --input 'My lamp came broken' --detach
 *   node examples/channels/web-page.ts WORKFLOW_ID
 *
 * The third command prints the workflow id. The page uses no Countersign code, so a page in any language can do the same.
 */

/** The parts of an event that this page reads. */
interface PageEvent {
  type: 'ApprovalRequestEvent' | 'ApprovalResultEvent' | 'RunCompleteEvent';
  requestId: string;
  toolName: string;
  decision?: string;
  output?: string;
}

export interface Page {
  /** Such as `http://127.0.0.1:7280`. */
  gateway: string;
  /** Sent with each call, such as a bearer token. */
  headers?: Record<string, string>;
  /** What the person at the page says. */
  ask: (event: PageEvent) => Promise<{ approved: boolean; reason?: string }>;
  show: (line: string) => void;
}

/** Follows the run to its end, and answers what it asks. */
export async function followRun({ gateway, headers = {}, ask, show }: Page, workflowId: string): Promise<void> {
  const url = new URL(`/runs/${encodeURIComponent(workflowId)}/events`, gateway);
  const stream = await fetch(url, { headers: { accept: 'text/event-stream', ...headers } });
  if (!stream.ok || stream.body === null) throw new Error(`the gateway answered ${stream.status}`);
  for await (const event of eventsOf(stream.body)) {
    if (event.type === 'ApprovalResultEvent') show(`${event.toolName}: ${event.decision}`);
    if (event.type === 'RunCompleteEvent') show(event.output ?? '');
    if (event.type !== 'ApprovalRequestEvent') continue;
    const answer = await ask(event);
    const response = await fetch(new URL(`/approve/${event.requestId}`, gateway), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(answer),
    });
    // Such as 409: somebody else was faster.
    if (!response.ok) show(`not counted: ${((await response.json()) as { detail: string }).detail}`);
  }
}

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<PageEvent> {
  let text = '';
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    text += part;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = block.split('\n').find((line) => line.startsWith('data: '));
      if (data !== undefined) yield JSON.parse(data.slice('data: '.length)) as PageEvent;
    }
  }
}

if (process.argv[1] === import.meta.filename) {
  const page: Page = {
    gateway: process.env.GATEWAY_URL ?? 'http://127.0.0.1:7280',
    // In the place of a person, so that the example runs by itself.
    ask: async ({ toolName }) => ({ approved: toolName !== 'delete_account', reason: 'Decided on the page.' }),
    show: (line) => console.log(line),
  };
  await followRun(page, process.argv[2] ?? '');
}
