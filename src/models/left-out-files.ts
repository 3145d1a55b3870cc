import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Agent } from '../agents/definitions.ts';
import { dataOf, type UserFile } from '../core/base/user-files.ts';

type Addresses = Awaited<LanguageModelV4['supportedUrls']>;

/**
 * Says of a file why a model call leaves it out, as a clause; undefined: it does not. A transcript may hold files that
 * another agent has taken, before a handover. Addresses are left out that the provider does not read: nobody else would.
 */
export async function leftOutFiles({
  name,
  files,
  model,
}: Pick<Agent, 'name' | 'files' | 'model'>): Promise<(file: UserFile) => string | undefined> {
  // A model of one's own may lack it.
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
