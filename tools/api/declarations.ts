import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The entries that users import, and the file that each one is made from. In the order of the page. */
export const entries = {
  countersign: 'src/index',
  'countersign/workflow': 'src/workflow',
  'countersign/worker': 'src/worker',
  'countersign/client': 'src/client',
  'countersign/channels': 'src/channels',
  'countersign/codec': 'src/codec',
  '@countersign/gateway': 'packages/gateway/src/index',
  '@countersign/mcp': 'packages/mcp/src/index',
} as const;

export type Entry = keyof typeof entries;

/** Writes the declarations of the packages to a folder, as `npm run build` makes them, but without checking types. */
export function writeDeclarations(folder: string): void {
  const problems = compile(['-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--noCheck', '--outDir', folder]);
  if (problems !== '') throw new Error(`the declarations cannot be written: ${problems}`);
}

/** Runs tsc at the root of the repository and returns the problems that it prints; empty if there are none. */
export function compile(args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', ...args], {
    cwd: root,
    encoding: 'utf8',
  });
  return status === 0 ? '' : `${stdout}${stderr}`;
}
