/** The health check of the gateway's container: exit 0 if it can serve requests, else 1 with one sentence. */
const complaint = await fetch('http://127.0.0.1:7280/readyz').then(
  async (answer) => (answer.ok ? undefined : `The gateway is not ready: ${await answer.text()}`),
  (error) => `The gateway does not answer: ${error instanceof Error ? error.message : String(error)}`,
);
if (complaint !== undefined) {
  process.stderr.write(`${complaint}\n`);
  process.exitCode = 1;
}
