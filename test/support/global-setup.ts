/** Runs once before the durable tests. */
export default async function globalSetup(): Promise<void> {}
