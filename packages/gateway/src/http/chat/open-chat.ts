import { requireGated } from 'countersign/adapter';
import { ProblemError } from 'countersign/base';
import type { GatewayContext } from '../gateway-context.ts';
import type { Principal } from '../identity/principal.ts';
import { type ChatAnswer, type UnreadAnswer, recordAnswers } from './chat-answers.ts';
import type { SeenItems } from './seen-run.ts';
import { followChat } from './chat-run.ts';
import type { ChatStep } from './chat-step.ts';
import { type ChatThread, callIdPrefix, startTurn, turnOf, workflowOfTurn } from './chat-thread.ts';

/** Each answer is a message to a run. */
const mostAnswers = 100;

/** What a front end has sent. */
export interface ChatMessage {
  agent: string;
  threadId: string;
  /** What the user has said. */
  texts: readonly string[];
  /** True: the last message is the user's; else an answer to a request is what is new. */
  isUserLast: boolean;
  /** The turn that an answer continues. Default: that of the texts. */
  continues?: string;
  answers: readonly (ChatAnswer | UnreadAnswer)[];
  seen: SeenItems;
  /** The protocol, for the record of what reviewers saw. */
  channel: string;
}

/** The run of a chat, to be told to its front end. */
export interface OpenChat {
  steps: (signal: AbortSignal) => AsyncGenerator<ChatStep, void, undefined>;
  /** True: the person who chats may answer requests. */
  canAnswer: boolean;
  /** Unique to the run. */
  messageId: string;
}

/**
 * Records the answers that came, and starts or finds the run that is to be followed. Throws `forbidden` for answers of
 * somebody who is no reviewer, `invalid_message` for a message without a text, and `run_not_found` for an answer to a run that
 * is not of this thread.
 */
export async function openChat(gateway: GatewayContext, principal: Principal, message: ChatMessage): Promise<OpenChat> {
  const { client } = gateway;
  const { agent, threadId, answers, seen, channel } = message;
  const canAnswer = principal.roles.includes('reviewer');
  if (answers.length > 0 && !canAnswer) {
    throw new ProblemError({ code: 'forbidden', message: 'Answering a request needs the role reviewer.' });
  }
  if (answers.length > mostAnswers) {
    throw new ProblemError({
      code: 'invalid_message',
      message: `A chat answers at most ${mostAnswers} requests at once.`,
    });
  }
  const thread: ChatThread = { client, principal, agent, threadId };
  const { turn, workflowId } = await findRun(thread, message);
  const receipts = await recordAnswers(thread, answers, { channel, gateway });
  return {
    steps: (signal) => followChat({ thread, workflowId, turn, seen, receipts, signal }),
    canAnswer,
    messageId: `chat-${callIdPrefix(workflowId)}`,
  };
}

/** Only a new message of the user starts a run: an answer to a run that retention has removed must not repeat it. */
async function findRun(
  thread: ChatThread,
  { texts, isUserLast, continues }: ChatMessage,
): Promise<{ turn: string; workflowId: string }> {
  const continued = isUserLast ? undefined : continues;
  if (continued === undefined && (texts.at(-1) ?? '').trim() === '') {
    const message = 'A chat begins with a message of the user that has a text.';
    throw new ProblemError({ code: 'invalid_message', message });
  }
  const turn = continued ?? turnOf(texts);
  if (isUserLast) return { turn, workflowId: await startTurn(thread, texts) };
  const workflowId = workflowOfTurn(thread, turn);
  await requireGated(thread.client.session, workflowId);
  return { turn, workflowId };
}
