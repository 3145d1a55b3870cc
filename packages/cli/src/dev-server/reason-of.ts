/**
 * The reason of a failure in one line. If an error has a cause (as from `fetch`), the cause gives the reason. Checks
 * shapes, not classes: in some runners, errors of Node's own modules come from another realm.
 */
export function reasonOf(error: unknown): string {
  const { message, cause } = Object(error) as { message?: unknown; cause?: unknown };
  if (cause !== undefined) return reasonOf(cause);
  return String(message ?? error).split('\n', 1)[0] ?? '';
}
