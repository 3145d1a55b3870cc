/**
 * `npm run bench:install`: what each kind of process installs. It installs the packed packages from the registry into
 * empty projects, and counts what they add to Temporal's client. `--json` prints only the numbers. Exits with 1 if
 * `countersign` adds more than its budget, or anything that its processes do not run.
 */
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const budget = { packages: 45, megabytes: 32 };
/** Web servers: neither a client nor a worker runs one. */
const unwanted = /^(?:hono|@hono\/.*|openid-client)$/;
const ofWorkers = ['@temporalio/activity', '@temporalio/plugin', '@temporalio/worker', '@temporalio/workflow'];

const { values } = parseArgs({ options: { json: { type: 'boolean' } } });
const dist = join(import.meta.dirname, '..', 'dist');
const root = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as {
  version: string;
  devDependencies: Record<string, string>;
};
const tarball = (name: string): string => join(dist, `${name}-${root.version}.tgz`);
const pinned = (names: readonly string[]): string[] => names.map((name) => `${name}@${root.devDependencies[name]!}`);
const client = pinned(['client', 'common', 'envconfig', 'proto'].map((name) => `@temporalio/${name}`));
const worker = [...client, ...pinned(ofWorkers)];

const base = install(client);
const rows = {
  'a client': difference(install([...client, tarball('countersign')]), base),
  'a worker': difference(install([...worker, tarball('countersign')]), install(worker)),
  'a gateway': difference(install([...client, tarball('countersign'), tarball('countersign-gateway')]), base),
};
const found = rows['a client'].names.filter((name) => unwanted.test(name) || ofWorkers.includes(name));
const isOver = rows['a client'].packages > budget.packages || rows['a client'].megabytes > budget.megabytes;
if (values.json === true) console.log(JSON.stringify({ rows, budget, found }, undefined, 2));
else {
  console.log('Beside the packages of Temporal that it runs, each installs:');
  for (const [who, { packages, megabytes }] of Object.entries(rows))
    console.log(`${who.padEnd(10)}  ${packages} packages, ${megabytes.toFixed(1)} MB`);
  console.log(
    `A client: at most ${budget.packages} packages and ${budget.megabytes} MB; it has ${found.join(', ') || 'nothing that it does not run'}.`,
  );
}
if (isOver || found.length > 0) process.exitCode = 1;

interface Installed {
  names: string[];
  megabytes: number;
}

/** Installs packages into an empty project. */
function install(packages: readonly string[]): Installed {
  const project = mkdtempSync(join(tmpdir(), 'countersign-install-'));
  try {
    writeFileSync(join(project, 'package.json'), '{ "private": true }');
    const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--loglevel=error'];
    execFileSync('npm', ['install', ...flags, ...packages], { cwd: project, stdio: ['ignore', 'ignore', 'inherit'] });
    const modules = join(project, 'node_modules');
    const lock = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')) as { packages: object };
    const files = globSync('**/*', { cwd: modules }).map((path) => statSync(join(modules, path)));
    const bytes = files.filter((file) => file.isFile()).reduce((sum, { size }) => sum + size, 0);
    return {
      names: Object.keys(lock.packages).map((path) => path.replace(/^.*node_modules\//, '')),
      megabytes: bytes / 1e6,
    };
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

function difference(all: Installed, without: Installed): Installed & { packages: number } {
  const names = all.names.filter((name) => !without.names.includes(name));
  return { names, packages: all.names.length - without.names.length, megabytes: all.megabytes - without.megabytes };
}
