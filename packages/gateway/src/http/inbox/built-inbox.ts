import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this package, in a checkout and installed. */
const own = join(import.meta.dirname, '..', '..', '..');
const source = join(own, 'src', 'inbox');
const isInstalled = !existsSync(source);
const built = join(own, 'dist', 'inbox');

/**
 * The folder with the built inbox. In a checkout it is built first if it is missing or older than its sources, which
 * `log` tells. Throws if it cannot be built.
 */
export async function builtInbox(log: (line: string) => void): Promise<string> {
  if (isInstalled || !(await isStale())) return built;
  log('Building the inbox …');
  // Several gateways may build at the same time, so each builds into a folder of its own.
  await mkdir(join(own, 'dist'), { recursive: true });
  const folder = await mkdtemp(join(own, 'dist', 'inbox-'));
  try {
    await build(folder);
    await putInPlace(folder, built, isStale);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return built;
}

async function isStale(): Promise<boolean> {
  const page = await stat(join(built, 'index.html')).catch(() => undefined);
  if (page === undefined) return true;
  const countersign = fileURLToPath(new URL('.', import.meta.resolve('countersign/card')));
  const times = await Promise.all([source, countersign, join(own, 'vite.config.ts')].map(newest));
  return Math.max(...times) > page.mtimeMs;
}

async function newest(path: string): Promise<number> {
  const own = await stat(path);
  if (!own.isDirectory()) return own.mtimeMs;
  const entries = await readdir(path, { recursive: true });
  const times = await Promise.all(entries.map(async (name) => (await stat(join(path, name))).mtimeMs));
  return Math.max(own.mtimeMs, ...times);
}

async function build(folder: string): Promise<void> {
  const vite = fileURLToPath(new URL('bin/vite.js', import.meta.resolve('vite/package.json')));
  const command = [vite, 'build', '--logLevel', 'error'];
  const env = { ...process.env, COUNTERSIGN_INBOX_FOLDER: folder, NODE_ENV: 'production' };
  const child = spawn(process.execPath, command, { cwd: own, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ended = Promise.withResolvers<number | null>();
  child.once('error', ended.reject).once('close', ended.resolve);
  if ((await ended.promise) !== 0) throw new Error(`The inbox cannot be built: ${errors.trim()}`);
}

/**
 * Puts a new build in the place of the old one, unless another gateway was faster: whoever reads that one must not lose its
 * files.
 */
export async function putInPlace(folder: string, place: string, isNeeded: () => Promise<boolean>): Promise<void> {
  if (!(await isNeeded())) return;
  const old = `${folder}-old`;
  await rename(place, old).catch(() => undefined);
  // Another gateway may do the same at this moment: either result is right.
  await rename(folder, place).catch(() => undefined);
  await rm(old, { recursive: true, force: true });
}
