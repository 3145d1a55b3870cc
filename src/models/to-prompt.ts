import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { Message } from '../contract.ts';
import type { Json } from '../core/base/tool-call.ts';

/** Converts a run's transcript for a provider. Adjacent tool results become one message. */
export function toPrompt(instructions: string, messages: readonly Message[]): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = instructions === '' ? [] : [{ role: 'system', content: instructions }];
  for (const message of messages) {
    // A session goes on after an answer without a text, and providers refuse a message without content.
    if (message.role === 'assistant' && message.content === '' && (message.toolCalls ?? []).length === 0) continue;
    const next = toProviderMessage(message);
    const last = prompt.at(-1);
    if (next.role === 'tool' && last?.role === 'tool') last.content.push(...next.content);
    else prompt.push(next);
  }
  return prompt;
}

function toProviderMessage(message: Message): LanguageModelV4Message {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.content }] };
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...(message.content === '' ? [] : [{ type: 'text' as const, text: message.content }]),
          ...(message.toolCalls ?? []).map((call) => ({
            type: 'tool-call' as const,
            toolCallId: call.id,
            toolName: sendableName(call.name),
            input: sendableArguments(call.arguments),
          })),
        ],
      };
    case 'tool':
      return {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: message.toolCallId,
            toolName: sendableName(message.toolName),
            output: { type: message.isError === true ? 'error-text' : 'text', value: message.content },
          },
        ],
      };
  }
}

// A model may call a tool by an invalid name, or with arguments that are not an object. Providers refuse a transcript
// that repeats such a call unchanged, and the run could never take another turn.

function sendableName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || '_';
}

function sendableArguments(value: Json): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { unreadable: value };
}
