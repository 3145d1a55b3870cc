import { execFile, execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { withFileLock } from '../../../src/connection/file-lock.ts';
import { testBundle } from '../../support/world.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..', '..');
const fixture = join(root, 'test', 'fixtures', 'outside-project');
/** The packages, by what their tarballs are called. */
const names = {
  countersign: 'countersign',
  'countersign-gateway': '@countersign/gateway',
  'countersign-cli': '@countersign/cli',
  'countersign-mcp': '@countersign/mcp',
} as const;

export interface Tarball {
  path: string;
  /** Paths inside the package. */
  files: string[];
  /** In bytes, packed. */
  size: number;
}

export type Tarballs = Record<(typeof names)[keyof typeof names], Tarball>;

/** The packed packages: those in the folder COUNTERSIGN_TEST_PACKAGES, or new ones, which the test files of a run share. */
export async function pack(): Promise<Tarballs> {
  const paths = globSync(join(process.env.COUNTERSIGN_TEST_PACKAGES ?? (await packagesOfRun()), '*.tgz'));
  return Object.fromEntries(
    Object.entries(names).map(([file, name]) => {
      const path = paths.find((each) => /^(.*)-\d/.exec(basename(each))![1] === file)!;
      const listed = execFileSync('tar', ['-tzf', path], { encoding: 'utf8' }).trim().split('\n');
      return [name, { path, files: listed.map((each) => each.replace(/^package\//, '')), size: statSync(path).size }];
    }),
  ) as Tarballs;
}

/** The folder in which the first test file that needs the packages packs them. */
async function packagesOfRun(): Promise<string> {
  const folder = join(dirname(testBundle()), 'packages');
  await withFileLock(`${folder}.lock`, { onWait: () => undefined }, async () => {
    if (existsSync(folder)) return;
    mkdirSync(folder);
    await packInto(folder);
  });
  return folder;
}

/** Packs what `npm run packages` packs. Another process may build or read `dist` at the same time. */
async function packInto(folder: string): Promise<void> {
  // Inside the repository, because what is built finds its dependencies there.
  const ignored = join(root, '.vitest');
  mkdirSync(ignored, { recursive: true });
  const built = mkdtempSync(join(ignored, 'packages-'));
  try {
    const env = { ...process.env, COUNTERSIGN_BUILD_FOLDER: built };
    await run('npm', ['run', '--silent', 'build'], { cwd: root, env });
    const folders = ['countersign', 'gateway', 'cli', 'mcp'].map((name) => join(built, name));
    await run('npm', ['pack', '--silent', '--pack-destination', folder, ...folders], { cwd: root });
  } finally {
    rmSync(built, { recursive: true, force: true });
  }
}

interface Manifest {
  peerDependencies: Record<string, string>;
}

/**
 * Makes a project in a temporary folder that has the packed packages installed, and returns its path. With `sdk` the
 * registry serves that version of Temporal's packages; without, the project links those of this repository.
 */
export function makeOutsideProject(tarballs: Tarballs, sdk: string | undefined): string {
  const project = mkdtempSync(join(tmpdir(), 'countersign-outside-'));
  cpSync(fixture, project, { recursive: true });
  const modules = join(project, 'node_modules');
  const { peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  const peers = Object.keys(peerDependencies);
  const ofTemporal = peers.filter((name) => name.startsWith('@temporalio/'));
  if (sdk === undefined) {
    for (const [name, { path }] of Object.entries(tarballs)) {
      mkdirSync(join(modules, name), { recursive: true });
      execFileSync('tar', ['-xzf', path, '-C', join(modules, name), '--strip-components=1']);
    }
  } else {
    const paths = Object.values(tarballs).map(({ path }) => path);
    const sdkPackages = ofTemporal.map((name) => `${name}@${sdk}`);
    execFileSync('npm', ['install', '--no-audit', '--no-package-lock', ...paths, ...sdkPackages], {
      cwd: project,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  // The project does without the packages of the channels that people choose; `name` may be a scope.
  const isOptional = (name: string): boolean =>
    peers.some((peer) => !ofTemporal.includes(peer) && (peer === name || peer.startsWith(`${name}/`)));
  for (const name of readdirSync(join(root, 'node_modules'))) {
    const link = join(modules, name);
    if (!name.startsWith('.') && !isOptional(name) && !existsSync(link))
      symlinkSync(join(root, 'node_modules', name), link);
  }
  return project;
}
