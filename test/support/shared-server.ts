/** `HOST:PORT` of the shared server of the durable tests. */
export function sharedAddress(): string {
  return setByGlobalSetup('TEMPORAL_ADDRESS');
}

/** The address of Temporal's UI of that server. */
export function sharedTemporalUi(): string {
  return setByGlobalSetup('COUNTERSIGN_TEST_TEMPORAL_UI');
}

function setByGlobalSetup(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error('the shared Temporal server runs only for tests in the durable folders');
  return value;
}
