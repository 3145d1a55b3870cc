import { problemOf } from '../responses/problem-response.ts';
import { type AskedRequest, type ChatStep, endText, questionText, waitsText } from './chat-step.ts';
import type { RunAgentInput } from './ag-ui-input.ts';

type Message = { id: string; role: string } & Record<string, unknown>;

/** The messages of a thread for AG-UI's snapshot: those that the front end sent, then those of later steps. */
class SnapshotMessages {
  readonly #all: Message[];
  /** True once the assistant has a text or call that the front end did not send. */
  hasNew = false;

  constructor(sent: RunAgentInput['messages']) {
    this.#all = structuredClone(sent);
  }

  get all(): readonly Message[] {
    return this.#all;
  }

  /** Adds a step to the messages that a snapshot contains. */
  add(step: ChatStep): void {
    if (step.type === 'text') {
      const message = this.#assistant(step.messageId);
      const { content } = message;
      message['content'] = `${typeof content === 'string' ? content : ''}${step.delta}`;
    }
    if (step.type === 'call') {
      const message = this.#assistant(step.messageId);
      const calls = (message['toolCalls'] ?? []) as object[];
      const called = { name: step.toolName, arguments: JSON.stringify(step.arguments) };
      message['toolCalls'] = [...calls, { id: step.callId, type: 'function', function: called }];
    }
    if (step.type === 'arguments') {
      const calls = this.#all.flatMap(({ toolCalls = [] }) => toolCalls as { id: string; function?: object }[]);
      const call = calls.find(({ id }) => id === step.callId);
      if (call !== undefined) call.function = { ...call.function, arguments: JSON.stringify(step.arguments) };
    }
    if (step.type === 'result') {
      const { callId, content } = step;
      this.#all.push({ id: `${callId}-result`, role: 'tool', toolCallId: callId, content });
    }
  }

  #assistant(id: string): Message {
    const known = this.#all.find((message) => message.id === id && message.role === 'assistant');
    if (known !== undefined) return known;
    this.hasNew = true;
    const message = { id, role: 'assistant' };
    this.#all.push(message);
    return message;
  }
}

/** An event of AG-UI. */
export type AgUiEvent = { type: string } & Record<string, unknown>;

/** Translates the steps of a run into events of AG-UI. Open requests are interrupts, which end the stream. */
export async function* agUiEvents(
  steps: AsyncIterable<ChatStep>,
  input: RunAgentInput,
  { failed }: { failed: (error: unknown) => void },
): AsyncGenerator<AgUiEvent, void, undefined> {
  const { threadId, runId } = input;
  const messages = new SnapshotMessages(input.messages);
  yield { type: 'RUN_STARTED', threadId, runId };
  try {
    for await (const step of steps) {
      messages.add(step);
      if (step.type === 'waiting') {
        yield { type: 'STATE_SNAPSHOT', snapshot: stateOf(input.state, step.requests) };
        // A snapshot that ends with a message of an earlier stream makes assistant-ui drop the interrupt that follows.
        // A snapshot without a new message would delete it in the front end.
        if (messages.hasNew && input.messages.length > 0) yield { type: 'MESSAGES_SNAPSHOT', messages: messages.all };
        const interrupts = step.requests.map((request) => interruptOf(request));
        yield { type: 'RUN_FINISHED', threadId, runId, outcome: { type: 'interrupt', interrupts } };
      } else if (step.type === 'ended' && step.status === 'completed') {
        yield { type: 'RUN_FINISHED', threadId, runId, outcome: { type: 'success' }, result: step.output };
      } else yield* eventsOf(step);
    }
  } catch (error) {
    failed(error);
    const { code, message } = problemOf(error);
    yield { type: 'RUN_ERROR', message, code };
  }
}

/** The events of AG-UI for a step; none for a request, which the last event of the response contains. */
function eventsOf(step: Exclude<ChatStep, { type: 'waiting' }>): AgUiEvent[] {
  switch (step.type) {
    case 'receipts':
      return [{ type: 'CUSTOM', name: 'countersign.receipts', value: step.receipts }];
    case 'text_start':
      return [{ type: 'TEXT_MESSAGE_START', messageId: step.messageId, role: 'assistant' }];
    case 'text':
      return [{ type: 'TEXT_MESSAGE_CONTENT', messageId: step.messageId, delta: step.delta }];
    case 'text_end':
      return [{ type: 'TEXT_MESSAGE_END', messageId: step.messageId }];
    case 'call': {
      const { callId: toolCallId, messageId: parentMessageId, toolName: toolCallName } = step;
      return [
        { type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId },
        { type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(step.arguments) },
        { type: 'TOOL_CALL_END', toolCallId },
      ];
    }
    case 'asked':
      return [];
    case 'waits': {
      const value = { message: waitsText(step.waits), waits: step.waits };
      return [{ type: 'CUSTOM', name: 'countersign.waiting', value }];
    }
    case 'arguments': {
      const { callId: toolCallId, toolName, arguments: args } = step;
      return [{ type: 'CUSTOM', name: 'countersign.arguments', value: { toolCallId, toolName, arguments: args } }];
    }
    case 'decided': {
      const { callId: toolCallId, answerId: interruptId, outcome, approved, reason } = step;
      const value = { interruptId, toolCallId, outcome, approved, ...(reason !== null && { reason }) };
      return [{ type: 'CUSTOM', name: 'countersign.decided', value }];
    }
    case 'result': {
      const { callId: toolCallId, content } = step;
      return [{ type: 'TOOL_CALL_RESULT', messageId: `${toolCallId}-result`, toolCallId, content, role: 'tool' }];
    }
    case 'ended':
      return [{ type: 'RUN_ERROR', message: endText(step), code: step.failure?.code ?? step.status }];
  }
}

/** A request as an interrupt of AG-UI, which the page answers when it resumes. */
function interruptOf(request: AskedRequest): object {
  const { answerId, requestId, workflowId, callId, toolName, digest, deadline, details, schema, refused } = request;
  return {
    id: answerId,
    reason: 'tool_call',
    message: questionText(request),
    toolCallId: callId,
    responseSchema: {
      type: 'object',
      properties: {
        approved: { type: 'boolean' },
        reason: { type: 'string' },
        editedArgs: schema ?? { type: 'object', description: 'Replaces all arguments.' },
      },
      required: ['approved'],
    },
    ...(deadline !== null && { expiresAt: deadline }),
    metadata: {
      requestId,
      workflowId,
      toolName,
      arguments: request.arguments,
      digest,
      ...(details !== undefined && { severity: details.assessment.severity, rule: details.rule, shown: details.shown }),
      ...(refused !== undefined && { refused }),
    },
  };
}

/** The front end's own state, with one member added. */
function stateOf(state: unknown, requests: readonly AskedRequest[]): object {
  const own = typeof state === 'object' && state !== null && !Array.isArray(state) ? state : {};
  const open = requests.map(({ answerId, callId, toolName, digest }) => ({
    interruptId: answerId,
    toolCallId: callId,
    toolName,
    digest,
  }));
  return { ...own, countersign: { open } };
}
