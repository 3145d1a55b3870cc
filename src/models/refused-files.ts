import { UnsupportedFunctionalityError } from '@ai-sdk/provider';
import { filesText, shownFile, type UserFile } from '../core/base/user-files.ts';
import type { ModelFailure } from './model-failure.ts';
import { refusesRequest } from './refuses-request.ts';

/** Why a request with new files failed, if they may be the reason: one sentence. Undefined: they are not. */
export function refusedFiles(
  error: unknown,
  { kind, message }: Pick<ModelFailure, 'kind' | 'message'>,
  files: readonly UserFile[],
): string | undefined {
  if (files.length === 0 || kind !== 'model_refused') return undefined;
  const told = `The input with ${filesText(files.map(shownFile))} was refused`;
  if (UnsupportedFunctionalityError.isInstance(error)) return `${told}: the model takes no such file.`;
  return refusesRequest(error) ? `${told}, which may be more than the model takes: ${message}` : undefined;
}
