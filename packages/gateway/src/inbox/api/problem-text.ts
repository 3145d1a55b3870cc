/** What to tell of an error: a refusal is one sentence already. */
export function problemText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
