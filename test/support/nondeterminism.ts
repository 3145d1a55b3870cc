/** What did not agree in a replay, without what the SDK writes around it. */
export function nondeterminism({ message }: Error): string {
  return /\[TMPRL1100\] ([^"]*)"/.exec(message)?.[1] ?? message;
}
