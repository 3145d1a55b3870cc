import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen } from '../support/listen.ts';

/** Serves releases as Temporal does: first the location of the archive, then the archive. */
export interface ReleaseServer {
  url: string;
  /** Path and query of each request so far. */
  requests: string[];
  close(): Promise<void>;
}

export interface Release {
  /** The content of the archived `temporal`. */
  content?: string;
  /** Replaces the name of the file to extract from the archive. */
  file?: string;
  /** Replaces the archive. */
  archive?: Buffer;
  /** Replaces the answer to the first request. */
  answer?: string;
  status?: number;
  /** Ends the connection in the middle of the archive. */
  breaksOff?: boolean;
}

export async function serveRelease(release: Release): Promise<ReleaseServer> {
  const archive = release.archive ?? pack(release.content ?? 'nothing');
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    if (request.url === '/archive') {
      if (release.breaksOff) response.writeHead(200, { 'content-length': archive.length * 2 });
      response.write(archive, () => (release.breaksOff ? response.destroy() : response.end()));
      return;
    }
    const found = { archiveUrl: `${url}/archive`, fileToExtract: release.file ?? 'temporal' };
    response.writeHead(release.status ?? 200).end(release.answer ?? JSON.stringify(found));
  });
  const { url, close } = await listen(server);
  return { url, requests, close };
}

function pack(content: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-release-'));
  try {
    writeFileSync(join(folder, 'temporal'), content);
    execFileSync('tar', ['-czf', 'archive', 'temporal'], { cwd: folder });
    return readFileSync(join(folder, 'archive'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
