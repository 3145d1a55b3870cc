/** A tool, agent, model or registry that cannot work: thrown where it is defined. `message` is one sentence. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError' as const;
}

/** Recognises a `DefinitionError` also from another copy of this package, where `instanceof` does not. */
export function isDefinitionError(error: unknown): error is DefinitionError {
  return error instanceof Error && error.name === 'DefinitionError';
}
