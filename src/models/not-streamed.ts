/** How a server that cannot stream shows itself when it is asked to. */
import { InvalidResponseDataError, type LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { ModelFailure } from './model-failure.ts';
import { refusesRequest } from './refuses-request.ts';

/** The answer held no event: most likely it was plain JSON, which the provider's parser of events skips. */
export class NotStreamed extends ModelFailure {
  constructor() {
    super('model_output_invalid', "The model's answer holds no event of a stream: set modelCall.stream to 'off'.");
  }
}

/**
 * True for the first part of an answer that held no event, after `stream-start`. Some providers report such an answer
 * as an error, others as one that finished for an unknown reason, which would complete the run with an empty text.
 */
export function isUnstreamed(part: LanguageModelV4StreamPart | undefined): boolean {
  if (part === undefined) return true;
  if (part.type === 'error') return InvalidResponseDataError.isInstance(part.error);
  return part.type === 'finish' && part.finishReason.unified === 'other';
}

/** True if the server refused the request and named streaming; a wrong guess costs one request. */
export function refusesStreaming(error: unknown): boolean {
  return refusesRequest(error) && /\bstream/i.test(error.responseBody ?? '');
}
