/** A separate program: starts a dev server, prints the server's process id, and waits until the server ends. */
import { startDevServer } from '../../packages/cli/src/dev-server/start-dev-server.ts';

const server = await startDevServer({ uiPort: null });
process.stdout.write(`${server.pid}\n`);
await server.ended;
