/** A program of its own: prints where the Temporal CLI is, getting it first if need be. */
import { findTemporal } from '../../src/dev-server/find-temporal.ts';

process.stdout.write(`${await findTemporal()}\n`);
