import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { checkOptions, DefinitionError } from '../agents/check-options.ts';
import { keepSecret } from './quote.ts';

/** Options of `openAICompatible`. */
export interface OpenAICompatibleOptions {
  /** The base URL, such as `https://api.openai.com/v1`; `/chat/completions` is appended to it. */
  baseURL: string;
  /** The key that is sent as a bearer token. Local servers often need none. */
  apiKey?: string;
  /** The model's name, as the server knows it. */
  model: string;
  /** The provider's name in logs. Default `openai-compatible`. */
  name?: string;
}

/**
 * Returns a model on any server that supports OpenAI's chat completions. Makes no request yet. Throws a
 * `DefinitionError` for invalid options.
 *
 * @example
 * ```ts
 * import { openAICompatible } from 'countersign';
 *
 * const model = openAICompatible({ baseURL: 'http://127.0.0.1:11434/v1', model: 'llama3.3' });
 * console.log(model.modelId); // llama3.3
 * ```
 */
export function openAICompatible(options: OpenAICompatibleOptions): LanguageModelV4 {
  checkOptions('openAICompatible', options, ['baseURL', 'apiKey', 'model', 'name']);
  const { baseURL, apiKey, model, name = 'openai-compatible' } = options;
  if (typeof model !== 'string' || model.trim() === '') throw new DefinitionError('openAICompatible: model is missing');
  checkBaseURL(baseURL);
  // With a line break in the key, each request would fail with an error that quotes the header.
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new DefinitionError('openAICompatible: apiKey must be visible ASCII characters without blanks');
  }
  if (apiKey !== undefined) keepSecret(apiKey);
  const provider = createOpenAICompatible({
    name,
    baseURL,
    includeUsage: true,
    apiKey,
    // Chat completions can name pictures by https address. A server that cannot fetch them refuses the request.
    supportedUrls: () => ({ 'image/*': [/^https:/] }),
  });
  return provider.chatModel(model);
}

const standardBaseURL = 'https://api.openai.com/v1';
const standardModel = 'gpt-5-mini';

/**
 * Returns the model at `OPENAI_BASE_URL` (default `https://api.openai.com/v1`) with `OPENAI_API_KEY`, named by
 * `COUNTERSIGN_MODEL` (default `gpt-5-mini`); undefined with neither URL nor key. Throws a `DefinitionError` for an
 * invalid URL or key.
 *
 * @example
 * ```ts
 * import { modelFromEnvironment } from 'countersign';
 *
 * console.log(modelFromEnvironment({ OPENAI_API_KEY: 'sk-1' })?.modelId); // gpt-5-mini
 * console.log(modelFromEnvironment({})); // undefined
 * ```
 */
export function modelFromEnvironment(environment: Record<string, string | undefined>): LanguageModelV4 | undefined {
  const read = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const apiKey = read('OPENAI_API_KEY');
  const baseURL = read('OPENAI_BASE_URL');
  if (apiKey === undefined && baseURL === undefined) return undefined;
  return openAICompatible({
    baseURL: baseURL ?? standardBaseURL,
    model: read('COUNTERSIGN_MODEL') ?? standardModel,
    apiKey,
  });
}

/** Throws a `DefinitionError` for what is no web address, or has a user or a password in it. */
function checkBaseURL(baseURL: unknown): void {
  const url = typeof baseURL === 'string' ? URL.parse(baseURL) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new DefinitionError(
      'openAICompatible: baseURL must be an http or https URL, such as https://api.openai.com/v1',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new DefinitionError('openAICompatible: baseURL must not hold a user name or password; use apiKey');
  }
}
