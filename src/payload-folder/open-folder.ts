import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ProblemError, isProblemError } from '../core/base/problem.ts';

/** The payload folder of one namespace, ready for use. */
export interface PayloadFolder {
  /** The absolute path. The payload files are in folders under it. */
  path: string;
  /** The key that signs the proofs in references. Everyone who can read the folder has it. */
  key: Buffer;
}

const keyFile = 'key';
const keyShape = /^[0-9a-f]{64}\n$/;

/**
 * Opens or creates the payload folder of a namespace. Each namespace has its own folder, so that cleaning it removes no
 * file of another namespace. Synchronous, because Temporal's plugins are. Throws `internal` with place and remedy.
 */
export function openPayloadFolder(folder: string, namespace: string): PayloadFolder {
  // Dots are encoded, too: a namespace may be called `..`.
  const path = join(resolve(folder), encodeURIComponent(namespace).replaceAll('.', '%2E'));
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const key = readKey(path) ?? makeKey(path);
    return { path, key };
  } catch (error) {
    if (isProblemError(error)) throw error;
    const [reason] = (error as Error).message.split('\n');
    throw unusable(path, `${reason}: name a folder that this process may write to`, error);
  }
}

/** Reads the key of a folder; undefined if the folder has no key file yet. Throws if the file has another content. */
function readKey(path: string): Buffer | undefined {
  try {
    const text = readFileSync(join(path, keyFile), 'utf8');
    if (keyShape.test(text)) return Buffer.from(text.trim(), 'hex');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  throw unusable(path, `its file '${keyFile}' does not hold 64 hex characters: bring it back from a backup`);
}

/** Makes the key of a folder. The link fails if another process was first, so that all processes get one key. */
function makeKey(path: string): Buffer {
  const written = join(path, `${keyFile}.${randomBytes(6).toString('hex')}`);
  writeFileSync(written, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(written, join(path, keyFile));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(written, { force: true });
  }
  const key = readKey(path);
  if (key === undefined) throw unusable(path, `its file '${keyFile}' went away while it was being made`);
  return key;
}

function unusable(path: string, why: string, cause?: unknown): ProblemError {
  const message = `The payload folder ${path} cannot be used: ${why}.`;
  return new ProblemError({ code: 'internal', message }, { cause });
}
