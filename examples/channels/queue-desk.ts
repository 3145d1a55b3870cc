/**
 * A desk that takes requests from the queue and answers them: in the worker's process, or in any other.
 *
 *   countersign worker examples/channels/shop.ts
 *   countersign run shop --input 'My lamp came broken' --detach
 *   node examples/channels/queue-desk.ts               asks about each request, until Ctrl-C
 *   node examples/channels/queue-desk.ts approve all   lists what waits, and approves exactly that
 *   node examples/channels/queue-desk.ts deny all      lists what waits, and denies it and what has come since
 *
 */
import { createInterface } from 'node:readline/promises';
import { type ApprovalQueue, approvalQueue, type ChannelAnswer } from 'countersign/channels';
import type { ApprovalDetails } from 'countersign/client';
import { createClient } from 'countersign/client';

/** What the page asks a person. */
export type AskPerson = (question: string) => Promise<string>;

/** Answers one request after another until the signal aborts. */
export async function desk(queue: ApprovalQueue, ask: AskPerson, signal: AbortSignal): Promise<void> {
  for (;;) {
    const request = await queue.next(signal);
    const answer = await answerOf(request, ask);
    // Somebody else may have been faster: the queue goes on.
    await queue.respond(request.requestId, answer).catch((error: unknown) => console.error(String(error)));
  }
}

async function answerOf({ toolName, arguments: args, callerUserId }: ApprovalDetails, ask: AskPerson) {
  console.log(`${toolName} ${JSON.stringify(args)}, for ${callerUserId ?? 'nobody'}`);
  const answers: Record<string, () => Promise<ChannelAnswer> | ChannelAnswer> = {
    yes: () => ({ approved: true }),
    no: () => ({ approved: false, reason: 'Denied at the desk.' }),
    edit: async () => ({ approved: true, modifiedArguments: JSON.parse(await ask('All arguments, as JSON: ')) }),
  };
  for (;;) {
    const answer = answers[(await ask('yes, no or edit? ')).trim()];
    if (answer !== undefined) return answer();
  }
}

if (process.argv[1] === import.meta.filename) {
  const client = await createClient();
  const queue = approvalQueue(client, { agent: 'shop', reviewerId: 'desk' });
  const command = process.argv.slice(2).join(' ');
  if (command === '') {
    const lines = createInterface({ input: process.stdin, output: process.stdout });
    await desk(queue, (question) => lines.question(question), new AbortController().signal);
  } else if (command === 'approve all' || command === 'deny all') {
    for (const { toolName, requestId } of await queue.pending()) console.log(`${requestId} ${toolName}`);
    const receipts =
      command === 'approve all'
        ? await queue.approveAll('Looked through.')
        : await queue.denyAll('The shop is closed.');
    for (const { message } of receipts) console.log(message);
  } else {
    console.error(`'${command}' is no command: write 'approve all' or 'deny all', or nothing.`);
    process.exitCode = 1;
  }
  await client.close();
}
