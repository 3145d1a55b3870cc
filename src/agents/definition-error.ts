/** A tool, agent, model or registry that cannot work: thrown where it is defined. `message` is one sentence. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError' as const;
}
