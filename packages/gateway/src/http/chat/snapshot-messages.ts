import type { RunAgentInput } from './ag-ui-input.ts';
import type { ChatStep } from './chat-step.ts';

type Message = { id: string; role: string } & Record<string, unknown>;

/** The messages of a thread for AG-UI's snapshot: those that the front end sent, and those of the steps since. */
export class SnapshotMessages {
  readonly #all: Message[];
  /** True once the assistant has said or called something that the front end did not send. */
  hasNew = false;

  constructor(sent: RunAgentInput['messages']) {
    this.#all = sent.map((message) => ({ ...message }));
  }

  get all(): readonly Message[] {
    return this.#all;
  }

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
