/** A separate program: prints the path of the Temporal CLI, after fetching it if necessary. */
import { findTemporal } from '../../packages/cli/src/dev-server/find-temporal.ts';

process.stdout.write(`${await findTemporal()}\n`);
