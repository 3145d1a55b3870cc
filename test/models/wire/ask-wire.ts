import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';

export type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>;
type AssistantPart = AssistantMessage['content'][number];

/** Asks a model as it is, and gives its answer as the next message of the transcript, with all that providers add. */
export async function askWire(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  streaming: boolean,
): Promise<AssistantMessage> {
  if (streaming) return { role: 'assistant', content: await fromStream((await model.doStream(options)).stream) };
  const { content } = await model.doGenerate(options);
  return { role: 'assistant', content: content.flatMap((part) => fromPart(part)) };
}

type Metadata = AssistantPart['providerOptions'];
type Whole = Awaited<ReturnType<LanguageModelV4['doGenerate']>>['content'][number];

function fromPart(part: Whole): AssistantPart[] {
  const { providerMetadata } = part;
  if (part.type === 'text' || part.type === 'reasoning') {
    return [{ type: part.type, text: part.text, ...kept(providerMetadata) }];
  }
  if (part.type !== 'tool-call') return [];
  const { type, toolCallId, toolName, input } = part;
  return [{ type, toolCallId, toolName, input: JSON.parse(input) as unknown, ...kept(providerMetadata) }];
}

function kept(metadata: Metadata): { providerOptions?: Metadata } {
  return metadata === undefined ? {} : { providerOptions: metadata };
}

/** A streamed block has the last metadata that the stream gave for it. */
async function fromStream(stream: ReadableStream<LanguageModelV4StreamPart>): Promise<AssistantPart[]> {
  const parts: AssistantPart[] = [];
  const blocks = new Map<string, { type: 'text' | 'reasoning'; text: string; providerOptions?: Metadata }>();
  for await (const part of stream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'text-start' || part.type === 'reasoning-start') {
      const block = { type: part.type === 'text-start' ? ('text' as const) : ('reasoning' as const), text: '' };
      blocks.set(part.id, block);
      parts.push(block);
    }
    if (part.type === 'text-delta' || part.type === 'reasoning-delta') blocks.get(part.id)!.text += part.delta;
    if (/^(?:text|reasoning)-/.test(part.type) && 'id' in part && 'providerMetadata' in part) {
      Object.assign(blocks.get(part.id)!, kept(part.providerMetadata));
    }
    if (part.type === 'tool-call') parts.push(...fromPart(part));
  }
  return parts.filter((part) => part.type !== 'text' || part.text !== '' || part.providerOptions !== undefined);
}

/** The message with a result for each call of an answer. */
export function resultsOf(answer: AssistantMessage): LanguageModelV4Prompt[number] {
  return {
    role: 'tool',
    content: answer.content.flatMap((part) =>
      part.type === 'tool-call'
        ? [
            {
              type: 'tool-result' as const,
              toolCallId: part.toolCallId,
              toolName: part.toolName,
              output: { type: 'text' as const, value: 'seen' },
            },
          ]
        : [],
    ),
  };
}
