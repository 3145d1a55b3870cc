/**
 * The fault server of the folder that the first argument names, over standard input and output. It writes the id of its
 * process into `FOLDER/pid-NAME`, with the second argument as the name.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { faultServer } from './mcp-fault-server.ts';

const [folder, name] = process.argv.slice(2) as [string, string];
writeFileSync(join(folder, `pid-${name}`), String(process.pid));
serveStdio(() => faultServer(folder, () => process.exit(1)));
