import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a Temporal CLI that is new enough prints as its version. */
export const usable = 'temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)';

/** A machine with an empty PATH, an empty cache and no network. */
export class BareMachine {
  readonly folder = mkdtempSync(join(tmpdir(), 'countersign-find-'));
  /** The one folder of PATH. */
  readonly bin = join(this.folder, 'bin');
  readonly env: NodeJS.ProcessEnv = {
    PATH: this.bin,
    COUNTERSIGN_CACHE: join(this.folder, 'cache'),
    COUNTERSIGN_TEMPORAL_DOWNLOAD: 'off',
  };

  constructor() {
    mkdirSync(this.bin);
  }

  program(path: string, ...script: string[]): string {
    writeFileSync(path, ['#!/bin/sh', ...script, ''].join('\n'));
    chmodSync(path, 0o755);
    return path;
  }

  temporal(path: string, version = usable): string {
    return this.program(path, `echo '${version}'`);
  }

  /** Puts a tool of this machine on PATH. */
  link(tool: string): void {
    const path = execFileSync('/bin/sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim();
    symlinkSync(path, join(this.bin, tool));
  }

  /** Names of the files in the cache, which has one folder for each pinned release. */
  cached(): string[] {
    const root = join(this.folder, 'cache', 'temporal');
    return existsSync(root) ? readdirSync(root).flatMap((release) => readdirSync(join(root, release))) : [];
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
