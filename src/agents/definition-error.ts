/** An invalid tool, agent, model or registry; thrown by its definition. `message` is one sentence. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError' as const;
}
