/**
 * Thrown by functions that define something, such as `defineTool` and `createWorker`, for options that are invalid or
 * contradict each other. `message` is one sentence.
 *
 * @example
 * ```ts
 * import { DefinitionError, defineAgent, scriptedModel } from 'countersign';
 *
 * try {
 *   defineAgent({ name: 'support', instructions: 'Help.', model: scriptedModel([]), maxTurns: 0 });
 * } catch (error) {
 *   if (error instanceof DefinitionError) console.log(error.message);
 *   // agent 'support': maxTurns: expected a whole number from 1 to 100000
 * }
 * ```
 */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError' as const;
}
