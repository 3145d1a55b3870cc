/**
 * `npm run build`: makes the folders of all packages in `dist`, or in the folder COUNTERSIGN_BUILD_FOLDER, as they are
 * published. There, exports name compiled code. In the repository they name sources, so that everything runs without being built.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { readApi } from './api/read-api.ts';
import { renderPage } from './api/render-page.ts';

type Names = Record<string, string>;

interface Manifest {
  name: string;
  version: string;
  exports: Names;
  bin?: Names;
  files: string[];
  dependencies: Names;
  peerDependencies?: Names;
}

const root = join(import.meta.dirname, '..');
const dist = process.env.COUNTERSIGN_BUILD_FOLDER ?? join(root, 'dist');
const tsc = join('typescript', 'bin', 'tsc');
/** The folder of each package in `dist`, and the one of its sources. */
const packages = { countersign: '.', gateway: 'packages/gateway', cli: 'packages/cli', mcp: 'packages/mcp' };

/** Fields of a manifest that mean nothing to those who install the package. */
const onlyHere = new Set(['private', 'workspaces', 'scripts', 'devDependencies', 'overrides', 'allowScripts']);

rmSync(dist, { recursive: true, force: true });
// Comments are in the declarations, where editors look for them.
const compile = ['-p', 'tsconfig.build.json', '--outDir', join(dist, 'compiled')];
run(tsc, [...compile, '--emitDeclarationOnly']);
run(tsc, [...compile, '--noCheck', '--declaration', 'false', '--removeComments']);
const apiPage = await renderPage(readApi(join(dist, 'compiled')));
for (const [name, source] of Object.entries(packages)) layOut(join(root, source), join(dist, name));
rmSync(join(dist, 'compiled'), { recursive: true });
writeFileSync(join(dist, 'countersign', 'docs', 'api.md'), apiPage);
execFileSync(process.execPath, [join(dist, 'countersign', 'dist', 'worker', 'write-package-bundles.js')]);
process.env.COUNTERSIGN_INBOX_FOLDER = join(dist, 'gateway', 'dist', 'inbox');
run(join('vite', 'bin', 'vite.js'), ['build', '--logLevel', 'warn'], join(root, 'packages', 'gateway'));

function run(program: string, words: string[], cwd = root): void {
  execFileSync(process.execPath, [join(root, 'node_modules', program), ...words], { cwd, stdio: 'inherit' });
}

function layOut(source: string, made: string): void {
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Manifest;
  mkdirSync(made);
  renameSync(join(dist, 'compiled', relative(root, source), 'src'), join(made, 'dist'));
  const tops = manifest.files.map((file) => file.split('/', 1)[0]!).filter((top) => top !== 'dist' && top[0] !== '!');
  for (const top of [...new Set(tops), 'README.md']) cpSync(join(source, top), join(made, top), { recursive: true });
  cpSync(join(root, 'LICENSE'), join(made, 'LICENSE'));
  writeFileSync(join(made, 'package.json'), `${JSON.stringify(published(manifest), undefined, 2)}\n`);
  // So that the packages find one another here.
  const link = join(dist, 'node_modules', manifest.name);
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(relative(dirname(link), made), link);
}

/**
 * The manifest of a package without what only the repository needs, and with compiled code in the place of sources. What
 * it links in the repository becomes a peer of exactly the same version: the entries between them may change in each.
 */
function published(manifest: Manifest): object {
  const { version, exports, bin, dependencies, peerDependencies } = manifest;
  const isLinked = ([, range]: [string, string]): boolean => range.startsWith('file:');
  const own = Object.entries(dependencies).filter(isLinked);
  const kept = Object.entries(manifest).filter(([field]) => !onlyHere.has(field));
  return {
    ...Object.fromEntries(kept),
    exports: mapped(exports, (target) =>
      target.endsWith('.ts') ? { types: compiled(target, '.d.ts'), default: compiled(target, '.js') } : target,
    ),
    ...(bin && { bin: mapped(bin, (target) => compiled(target, '.js')) }),
    dependencies: Object.fromEntries(Object.entries(dependencies).filter((each) => !isLinked(each))),
    peerDependencies: { ...peerDependencies, ...Object.fromEntries(own.map(([name]) => [name, version])) },
  };
}

function mapped(names: Names, map: (target: string) => unknown): object {
  return Object.fromEntries(Object.entries(names).map(([name, target]) => [name, map(target)]));
}

function compiled(source: string, extension: string): string {
  return source.replace(/^(\.\/)?src\//, '$1dist/').replace(/\.ts$/, extension);
}
