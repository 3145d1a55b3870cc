/**
 * Why something failed, in one line. Where an error only says that it failed (as `fetch` does), its cause says why.
 * Looks at shapes, not classes: errors of Node's own parts come from another realm in some runners.
 */
export function reasonOf(error: unknown): string {
  const { message, cause } = Object(error) as { message?: unknown; cause?: unknown };
  if (cause !== undefined) return reasonOf(cause);
  return String(message ?? error).split('\n', 1)[0] ?? '';
}
