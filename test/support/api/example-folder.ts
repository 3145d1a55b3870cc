import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeDeclarations } from './declarations.ts';
import { examplesOf, type ExampleFile } from './examples.ts';
import { type ApiEntry, readApi } from './read-api.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

export interface ExampleFolder {
  api: ApiEntry[];
  examples: ExampleFile[];
  /** Holds the files of the examples. */
  path: string;
}

/**
 * Lays out a project of a user in an empty folder: the examples, and a package `countersign` with the present
 * declarations, whose code is that of `src`. `workflows.ts` exports the workflows of all examples.
 */
export function layOutExamples(folder: string): ExampleFolder {
  const path = join(folder, 'project');
  const installed = join(path, 'node_modules', 'countersign');
  mkdirSync(installed, { recursive: true });
  writeDeclarations(join(installed, 'types'));
  symlinkSync(join(root, 'src'), join(installed, 'src'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(installed, 'package.json'), packageJson());
  const api = readApi(join(installed, 'types'));
  const examples = examplesOf(api);
  for (const { file, code } of examples) writeFileSync(join(path, file), code);
  const workflows = examples.filter(({ kind }) => kind === 'workflow');
  writeFileSync(join(path, 'workflows.ts'), workflows.map(({ file }) => `export * from './${file}';\n`).join(''));
  writeFileSync(join(path, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(
    join(path, 'tsconfig.json'),
    JSON.stringify({ extends: join(root, 'tsconfig.json'), include: ['*.ts'] }),
  );
  return { api, examples, path };
}

/** The entries of our own package.json; types come from the declarations, code from `src`. */
function packageJson(): string {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { types: string }>;
  };
  const entries = Object.entries(exports).flatMap(([entry, target]) => {
    if (typeof target === 'string') return [];
    const name = target.types.replace('./dist/', '').replace('.d.ts', '');
    return [[entry, { types: `./types/${name}.d.ts`, default: `./src/${name}.ts` }]];
  });
  return JSON.stringify({ name: 'countersign', type: 'module', exports: Object.fromEntries(entries) });
}
