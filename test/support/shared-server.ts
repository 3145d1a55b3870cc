/** `HOST:PORT` of the shared server of the durable tests. */
export function sharedAddress(): string {
  const address = process.env.TEMPORAL_ADDRESS;
  if (address === undefined) throw new Error('the shared Temporal server runs only for tests in the durable folders');
  return address;
}
