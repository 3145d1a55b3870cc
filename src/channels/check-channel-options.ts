import { DefinitionError } from '../agents/definition-error.ts';
import { unknownName } from '../text/unknown-name.ts';

/** Throws a `DefinitionError` for options that a kind of channel does not have. `known` names each of those that it has. */
export function checkChannelOptions<Options extends object>(
  kind: string,
  options: Options,
  known: Readonly<Record<keyof Options, true>>,
): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined) {
    throw new DefinitionError(`${kind}: ${unknownName('option', unknown, Object.keys(known))}`);
  }
}
