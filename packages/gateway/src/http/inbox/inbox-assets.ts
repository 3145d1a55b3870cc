import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

/** One file of the inbox, as it is sent. */
export interface InboxAsset {
  type: string;
  etag: string;
  /** True: its name changes with its content. */
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

/**
 * Reads all files of a folder, by their path in it. They are small and few, and what is not among them is not served,
 * whatever a request calls it.
 */
export async function readAssets(folder: string): Promise<ReadonlyMap<string, InboxAsset>> {
  const assets = new Map<string, InboxAsset>();
  for (const name of await readdir(folder, { recursive: true })) {
    const path = join(folder, name);
    if ((await stat(path)).isFile()) assets.set(name.replaceAll(sep, '/'), await readAsset(path, name));
  }
  return assets;
}

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
