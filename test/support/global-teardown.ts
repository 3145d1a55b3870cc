/** Runs once after the durable tests. */
export default async function globalTeardown(): Promise<void> {}
