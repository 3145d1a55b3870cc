import { type LanguageModelV4, UnsupportedFunctionalityError } from '@ai-sdk/provider';
import type { Agent } from '../agents/definitions.ts';
import { dataOf, type UserFile, filesText, shownFile } from '../core/base/user-files.ts';
import { type ModelFailure, refusesRequest } from './model-failure.ts';

type Addresses = Awaited<LanguageModelV4['supportedUrls']>;

/**
 * Why a model call leaves out a file, as a clause; undefined: it does not. A transcript may contain files that another
 * agent accepted before a handover. Addresses that the provider does not fetch are left out: no other part fetches
 * them.
 */
export async function leftOutFiles({
  name,
  files,
  model,
}: Pick<Agent, 'name' | 'files' | 'model'>): Promise<(file: UserFile) => string | undefined> {
  // A custom model may lack it.
  const addresses = ((await model.supportedUrls) as Addresses | undefined) ?? {};
  return (file) => {
    const { mediaType, url } = file;
    if (files?.types.includes(mediaType) !== true) return `agent '${name}' takes no ${mediaType}`;
    if (dataOf(file) !== undefined || isRead(mediaType, url, addresses)) return undefined;
    return `the model reads no ${mediaType} from this address`;
  };
}

function isRead(mediaType: string, url: string, addresses: Addresses): boolean {
  const [kind] = mediaType.split('/');
  const patterns = ['*', '*/*', `${kind}/*`, mediaType].flatMap((key) => addresses[key] ?? []);
  return patterns.some((pattern) => new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(url));
}

/** Why a request with new files failed, if the files may be the reason: one sentence. Undefined: they are not. */
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
