import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { type ScriptedTurn, scriptedModel } from '../../src/models/scripted.ts';

/** A model whose script is the first user message: a JSON list of turns. */
export function promptScripted(): LanguageModelV4 {
  const played = (prompt: LanguageModelV4Prompt): LanguageModelV4 => {
    const first = prompt.find(({ role }) => role === 'user')?.content;
    const text = Array.isArray(first) ? first.map((part) => (part.type === 'text' ? part.text : '')).join('') : '';
    return scriptedModel({ default: JSON.parse(text) as ScriptedTurn[] });
  };
  return {
    ...scriptedModel([]),
    doGenerate: (options) => played(options.prompt).doGenerate(options),
    doStream: (options) => played(options.prompt).doStream(options),
  };
}
