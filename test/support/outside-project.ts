import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const fixture = join(root, 'test', 'fixtures', 'outside-project');

export interface Tarball {
  path: string;
  /** Paths inside the package. */
  files: string[];
  /** In bytes, packed. */
  size: number;
}

/** The packed package: that of COUNTERSIGN_TEST_TARBALL, or one that is built and packed into `folder`. */
export function pack(folder: string): Tarball {
  const path = process.env.COUNTERSIGN_TEST_TARBALL ?? packInto(folder);
  const listed = execFileSync('tar', ['-tzf', path], { encoding: 'utf8' }).trim().split('\n');
  return { path, files: listed.map((each) => each.replace(/^package\//, '')), size: statSync(path).size };
}

function packInto(folder: string): string {
  const options = ['--silent', '--foreground-scripts=false', '--pack-destination', folder];
  const printed = execFileSync('npm', ['pack', ...options], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return join(folder, printed.trim().split('\n').at(-1)!);
}

interface Manifest {
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, object>;
}

/**
 * Makes a project in a temporary folder that has the packed package installed, and returns its path. With `sdk` the
 * registry serves that version of Temporal's packages; without, the project links those of this repository.
 */
export function makeOutsideProject(tarball: string, sdk: string | undefined): string {
  const project = mkdtempSync(join(tmpdir(), 'countersign-outside-'));
  cpSync(fixture, project, { recursive: true });
  const modules = join(project, 'node_modules');
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  const { peerDependencies, peerDependenciesMeta } = manifest;
  // The project does without the optional packages; `name` may be a scope.
  const isOptional = (name: string): boolean =>
    Object.keys(peerDependenciesMeta).some((each) => each === name || each.startsWith(`${name}/`));
  if (sdk === undefined) {
    mkdirSync(join(modules, 'countersign'), { recursive: true });
    execFileSync('tar', ['-xzf', tarball, '-C', join(modules, 'countersign'), '--strip-components=1']);
  } else {
    const names = Object.keys(peerDependencies).filter((name) => !isOptional(name));
    const peers = names.map((name) => `${name}@${sdk}`);
    execFileSync('npm', ['install', '--no-audit', '--no-package-lock', tarball, ...peers], {
      cwd: project,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  for (const name of readdirSync(join(root, 'node_modules'))) {
    const link = join(modules, name);
    if (!name.startsWith('.') && !isOptional(name) && !existsSync(link))
      symlinkSync(join(root, 'node_modules', name), link);
  }
  return project;
}
