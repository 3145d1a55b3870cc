import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, join, relative, extname, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withFileLock } from 'countersign/adapter';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

const own = join(import.meta.dirname, '..', '..', '..');
const dist = join(own, 'dist');
const source = join(own, 'src', 'inbox');
const isInstalled = !existsSync(source);

/**
 * Returns the folder with the built inbox. In a checkout of the repository, its name has a digest of the sources, so a
 * changed source never changes files that are being read. One gateway builds a missing folder; other gateways wait.
 */
export async function builtInbox(log: (line: string) => void): Promise<string> {
  if (isInstalled) return join(dist, 'inbox');
  const digest = await digestOfSources();
  const place = join(dist, `inbox-${digest}`);
  if (existsSync(place)) return place;
  await mkdir(dist, { recursive: true });
  const onWait = (holder: string): void => log(`Waiting for process ${holder}, which builds the inbox …`);
  await withFileLock(join(dist, 'inbox.lock'), { onWait }, async () => {
    if (existsSync(place)) return;
    log('Building the inbox …');
    const folder = await mkdtemp(join(dist, 'building-'));
    try {
      await build(join(folder, 'inbox'));
      // If the sources have changed meanwhile, the build may contain some of the changes, so it is dropped.
      if ((await digestOfSources()) === digest) await putInPlace(folder, place);
    } catch (error) {
      // If the folder exists now, another gateway took over the lock and has built the inbox.
      if (!existsSync(place)) throw error;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
  // Without the folder, the sources have changed during the build, so the new sources are built.
  return existsSync(place) ? place : builtInbox(log);
}

/** A digest of all sources of the inbox. It covers the libraries by package.json, which has their exact versions. */
async function digestOfSources(): Promise<string> {
  const countersign = fileURLToPath(new URL('.', import.meta.resolve('countersign/card')));
  const hash = createHash('sha256');
  for (const root of [source, countersign, join(own, 'vite.config.ts'), join(own, 'package.json')]) {
    for (const { path, content } of await filesOf(root)) hash.update(`${path}\0`).update(content).update('\0');
  }
  return hash.digest('hex').slice(0, 16);
}

async function filesOf(root: string): Promise<{ path: string; content: Buffer }[]> {
  if (!(await stat(root)).isDirectory()) return [{ path: '', content: await readFile(root) }];
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
  const read = async (path: string) => ({ path: relative(root, path), content: await readFile(path) });
  return Promise.all(paths.toSorted().map(read));
}

/** Builds the inbox into a folder with Vite, in another process. Throws with what Vite writes to standard error. */
async function build(folder: string): Promise<void> {
  const vite = fileURLToPath(new URL('bin/vite.js', import.meta.resolve('vite/package.json')));
  const command = [vite, 'build', '--logLevel', 'error'];
  const env = { ...process.env, COUNTERSIGN_INBOX_FOLDER: folder };
  const child = spawn(process.execPath, command, { cwd: own, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ended = Promise.withResolvers<number | null>();
  child.once('error', ended.reject).once('close', ended.resolve);
  if ((await ended.promise) !== 0) throw new Error(`The inbox cannot be built: ${errors.trim()}`);
}

/** Renames a finished build to its place. Builds of earlier sources move into `folder`, which the caller removes. */
async function putInPlace(folder: string, place: string): Promise<void> {
  const names = await readdir(dist);
  const earlier = names.filter((name) => name.startsWith('inbox-') && name !== basename(place));
  for (const name of earlier) await rename(join(dist, name), join(folder, name));
  await rename(join(folder, 'inbox'), place);
}

export interface InboxAsset {
  type: string;
  etag: string;
  /** True: the name of the file contains a hash of its content, so browsers may cache it forever. */
  isHashed: boolean;
  plain: Uint8Array<ArrayBuffer>;
  gzip: Uint8Array<ArrayBuffer>;
  br: Uint8Array<ArrayBuffer>;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
};

const [asGzip, asBrotli] = [promisify(gzip), promisify(brotliCompress)];

/** Reads all files of a folder, by their path in it. The gateway serves only these. */
export async function readAssets(folder: string): Promise<ReadonlyMap<string, InboxAsset>> {
  const assets = new Map<string, InboxAsset>();
  for (const name of await readdir(folder, { recursive: true })) {
    const path = join(folder, name);
    if ((await stat(path)).isFile()) assets.set(name.replaceAll(sep, '/'), await readAsset(path, name));
  }
  return assets;
}

/** A file as it is and in two compressed forms, made once for all browsers. `name`: its path in the folder. */
async function readAsset(path: string, name: string): Promise<InboxAsset> {
  const plain = new Uint8Array(await readFile(path));
  const [zipped, brotli] = await Promise.all([asGzip(plain), asBrotli(plain)]);
  return {
    type: types[extname(name)] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(plain).digest('base64url')}"`,
    isHashed: name.startsWith(`assets${sep}`),
    plain,
    gzip: new Uint8Array(zipped),
    br: new Uint8Array(brotli),
  };
}
