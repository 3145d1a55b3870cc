/**
 * A receiver of Countersign's webhook in Node: it verifies each POST, decides, and answers.
 *
 *   WEBHOOK_SECRET=whsec_… node examples/webhook-receiver/receiver.ts 8090
 *
 * It answers both ways: to polling under /requests/ID, and to the callback URL if a request names one. docs/webhook.md has the
 * channel that posts to it.
 */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { signWebhook, verifyWebhook } from 'countersign/channels';

const { WEBHOOK_SECRET = '' } = process.env;
/** Several while you rotate, the newest first. */
const secret = WEBHOOK_SECRET.split(' ');

type Request = ReturnType<typeof verifyWebhook>['request'];
interface Answer {
  requestId: string;
  digest: string;
  approved: boolean;
  reason: string;
  reviewerId: string;
}

/** By request id; keep them in a database. */
const answers = new Map<string, Answer>();
/** The same message may come twice. */
const seen = new Set<string>();

/** Your own rule, or a page for people: return undefined while nobody has decided. */
function decide({ requestId, digest, toolName, arguments: args }: Request): Answer | undefined {
  const isSmall = toolName === 'pay' && Number(args['amount']) <= 100;
  const reason = isSmall ? 'Small enough' : 'Too much for a program to decide';
  return { requestId, digest, approved: isSmall, reason, reviewerId: 'payments-desk' };
}

/** An answer as it is sent: with the request and the call that it is about, and a signature. */
function signed(answer: Answer): { headers: Record<string, string>; body: string } {
  const body = JSON.stringify(answer);
  const signature = signWebhook(secret[0] ?? '', { id: `ans_${answer.requestId}`, body });
  return { headers: { 'content-type': 'application/json', ...signature }, body };
}

async function handle(request: Request): Promise<void> {
  const { requestId, settled, delivery } = request;
  if (delivery.event === 'settled') {
    console.log(JSON.stringify({ settled: requestId, outcome: settled?.outcome }));
    return;
  }
  const answer = answers.get(requestId) ?? decide(request);
  if (answer === undefined) return;
  answers.set(requestId, answer);
  if (delivery.callbackUrl === undefined) return;
  const response = await fetch(delivery.callbackUrl, { method: 'POST', ...signed(answer) });
  console.log(JSON.stringify({ receipt: ((await response.json()) as { message: string }).message }));
}

async function post(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { webhookId, request } = verifyWebhook({ secret, headers: incoming.headers, body: await buffer(incoming) });
  outgoing.writeHead(204).end();
  if (seen.has(webhookId)) return;
  seen.add(webhookId);
  await handle(request);
}

function get({ url = '' }: IncomingMessage, outgoing: ServerResponse): void {
  const answer = answers.get(url.slice(url.lastIndexOf('/') + 1));
  if (answer === undefined) return void outgoing.writeHead(202).end();
  const { headers, body } = signed(answer);
  outgoing.writeHead(200, headers).end(body);
}

const server = createServer((incoming, outgoing) => {
  if (incoming.method === 'GET') return get(incoming, outgoing);
  post(incoming, outgoing).catch((error: unknown) => {
    console.error(String(error));
    if (!outgoing.headersSent) outgoing.writeHead(401).end();
  });
});
server.listen(Number(process.argv[2] ?? 8090), '127.0.0.1', () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }));
});
