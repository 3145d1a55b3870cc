import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

/** The packages (docs/decisions/0063): each imports only what it may, and what it installs. */

const root = join(import.meta.dirname, '..');
const folders = globSync('packages/*', { cwd: root });

interface Manifest {
  version: string;
  private: boolean;
  dependencies: Record<string, string>;
  exports: Record<string, string>;
}
const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;

/** What a file imports: types, `import()` and re-exports included. */
function importsOf(file: string): string[] {
  const code = readFileSync(join(root, file), 'utf8').replaceAll(/^ *\*.*$/gm, '');
  const specifiers = code.matchAll(/(?:\bfrom|\bimport|\bimport\(|\bnew URL\()\s*'([^']+)'/g);
  return [...specifiers].map(([, specifier]) => specifier!);
}

const filesOf = (folder: string): string[] => globSync(`${folder}/src/**/*.{ts,tsx}`, { cwd: root });

test('there are a gateway, a command line and MCP tools beside countersign', () => {
  expect(folders.toSorted()).toEqual(['packages/cli', 'packages/gateway', 'packages/mcp']);
  expect(filesOf('packages/cli').length).toBeGreaterThan(50);
});

test('all have the version of countersign, and no manifest of the repository can be published', () => {
  const { version } = manifestOf('.');
  for (const folder of ['.', ...folders]) expect(manifestOf(folder)).toMatchObject({ version, private: true });
});

describe.each(folders)('%s', (folder) => {
  const imports = filesOf(folder).flatMap((file) => importsOf(file).map((specifier) => ({ file, specifier })));

  test('reaches no file outside its folder by a path', () => {
    const paths = imports.filter(({ specifier }) => /^\.{1,2}\//.test(specifier));
    const own = `${join(root, folder)}/`;
    expect(paths.length).toBeGreaterThan(filesOf(folder).length / 2);
    expect(paths.filter(({ file, specifier }) => !resolve(root, dirname(file), specifier).startsWith(own))).toEqual([]);
  });

  test('imports only entries that countersign has', () => {
    const entries = Object.keys(manifestOf('.').exports).map((entry) => entry.replace(/^\./, 'countersign'));
    const asked = imports.filter(({ specifier }) => /^countersign(?:\/|$)/.test(specifier));
    expect(asked.length).toBeGreaterThan(filesOf(folder).length / 3);
    expect(asked.filter(({ specifier }) => !entries.includes(specifier))).toEqual([]);
  });
});

test('countersign imports none of the packages that are built on it', () => {
  const imports = filesOf('.').flatMap((file) => importsOf(file).map((specifier) => `${file}: ${specifier}`));
  expect(imports.length).toBeGreaterThan(1_000);
  expect(imports.filter((each) => /: (?:@countersign\/|countersign|.*packages\/)/.test(each))).toEqual([]);
});

test('no adapter imports another one, by `import()` and types neither', () => {
  const crossing = globSync('src/adapters/*/**/*.ts', { cwd: root }).flatMap((file) => {
    const own = file.split('/').slice(0, 3).join('/');
    const paths = importsOf(file).filter((specifier) => specifier.startsWith('.'));
    const others = paths.map((path) => join(dirname(file), path)).filter((path) => !path.startsWith(`${own}/`));
    return others.filter((path) => path.startsWith('src/adapters/')).map((path) => `${file}: ${path}`);
  });
  expect(crossing).toEqual([]);
});

describe('without the packages of a worker', () => {
  const entries = Object.entries(manifestOf('.').exports)
    .filter(([, target]) => target.endsWith('.ts'))
    .map(([entry]) => entry.replace(/^\./, 'countersign'));
  const ofWorkers = ['countersign/worker', 'countersign/workflow', 'countersign/dev'];

  /** What an import of each entry says where Temporal's packages for workers are not installed. */
  function load(asked: readonly string[]): Record<string, string> {
    const code = `
      import { registerHooks } from 'node:module';
      registerHooks({ resolve(specifier, context, next) {
        if (/^@temporalio\\/(worker|activity|workflow|plugin)\\b/.test(specifier)) throw new Error('not installed');
        return next(specifier, context);
      } });
      const said = {};
      for (const entry of ${JSON.stringify(asked)})
        said[entry] = await import(entry).then(() => 'loads', ({ message }) => message);
      console.log(JSON.stringify(said));
    `;
    const words = ['--input-type=module', '--eval', code];
    return JSON.parse(spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8' }).stdout) as Record<
      string,
      string
    >;
  }

  test('all entries load but those of a worker', () => {
    const others = [
      ...entries.filter((entry) => !ofWorkers.includes(entry)),
      '@countersign/gateway',
      '@countersign/mcp',
    ];
    expect(others.length).toBeGreaterThan(8);
    expect(load([...others, ...ofWorkers])).toEqual({
      ...Object.fromEntries(others.map((entry) => [entry, 'loads'])),
      ...Object.fromEntries(ofWorkers.map((entry) => [entry, 'not installed'])),
    });
  });
});
