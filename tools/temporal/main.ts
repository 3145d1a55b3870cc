/**
 * `npm run temporal`: prints the path of the Temporal CLI for this clone, and builds it if none is installed and none can be
 * downloaded.
 */
import { temporalOfClone } from './temporal-of-clone.ts';

process.stdout.write(`${await temporalOfClone({ log: (line) => process.stderr.write(`${line}\n`) })}\n`);
