/** The core of a replay's nondeterminism error, without the SDK's surrounding text. */
export function nondeterminism({ message }: Error): string {
  return /\[TMPRL1100\] ([^"]*)"/.exec(message)?.[1] ?? message;
}
