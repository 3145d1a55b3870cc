import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeDeclarations } from '../../tools/api/declarations.ts';
import { examplesOf, type ExampleFile } from './examples.ts';
import { type ApiEntry, readApi } from '../../tools/api/read-api.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface ExampleFolder {
  api: ApiEntry[];
  examples: ExampleFile[];
  /** Holds the files of the examples. */
  path: string;
  /** Holds the present declarations. */
  types: string;
}

/**
 * Lays out a project of a user in an empty folder: the examples, and a link to what is installed here, our packages
 * included. `workflows.ts` exports the workflows of all examples.
 */
export function layOutExamples(folder: string): ExampleFolder {
  const path = join(folder, 'project');
  const types = join(folder, 'types');
  mkdirSync(path);
  writeDeclarations(types);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const api = readApi(types);
  const examples = examplesOf(api);
  for (const { file, code } of examples) writeFileSync(join(path, file), code);
  const workflows = examples.filter(({ kind }) => kind === 'workflow');
  writeFileSync(join(path, 'workflows.ts'), workflows.map(({ file }) => `export * from './${file}';\n`).join(''));
  writeFileSync(join(path, 'package.json'), JSON.stringify({ type: 'module' }));
  // They compile with the declarations, and run with the sources.
  const paths = {
    countersign: ['../types/src/index.d.ts'],
    'countersign/*': ['../types/src/*.d.ts'],
    '@countersign/gateway': ['../types/packages/gateway/src/index.d.ts'],
    '@countersign/mcp': ['../types/packages/mcp/src/index.d.ts'],
  };
  const tsconfig = { extends: join(root, 'tsconfig.json'), compilerOptions: { paths }, include: ['*.ts'] };
  writeFileSync(join(path, 'tsconfig.json'), JSON.stringify(tsconfig));
  return { api, examples, path, types };
}
