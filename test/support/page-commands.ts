import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { forEachChild, parse, type SyntaxNode } from 'unbash';
import { shellWord } from '../../src/core/shell/words.ts';

/** What the pages tell a reader to type. */

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface PageCommand {
  /** Its path from the top of the repository. */
  page: string;
  line: string;
  /** In a shell block, whole. False: named in a sentence, so that arguments may be left out. */
  isWhole: boolean;
}

/** In a sentence these are commands to type. Of others, such as git, pages say what a policy does with them. */
const programs = ['countersign', 'temporal', 'npm', 'npx', 'node', 'openssl'];
const commandShape = new RegExp(`^(?:[A-Z][A-Z0-9_]*=\\S+ )*(?:${programs.join('|')}) \\S`);
const shells = ['sh', 'bash', 'shell', 'console'];

/** README.md and every other page of the repository. */
export function pages(): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
    cwd: root,
    encoding: 'utf8',
  });
  return listed.split('\n').filter((path) => path !== '');
}

export function readPage(page: string): string {
  return readFileSync(`${root}${page}`, 'utf8');
}

/** The lines of its shell blocks, and the commands that its sentences name. Throws for a command in a block of another kind. */
export function commandsOf(page: string, text = readPage(page)): PageCommand[] {
  const found: PageCommand[] = [];
  const sentences = text.replaceAll(/^```(.*)\n([\s\S]*?)^```$/gm, (_block, label: string, body: string) => {
    const lines = body
      .replaceAll('\\\n', ' ')
      .split('\n')
      .map((line) => line.trim());
    const isShell = shells.includes(label.split(' ')[0]!);
    for (const line of lines) {
      if (line === '' || line.startsWith('#')) continue;
      if (isShell) found.push({ page, line, isWhole: true });
      else if (commandShape.test(line)) throw new Error(`${page}: '${line}' stands in a block that is not marked sh`);
    }
    return '';
  });
  for (const line of spansOf(sentences)) if (commandShape.test(line)) found.push({ page, line, isWhole: false });
  return found;
}

/** The flags that its sentences name together with a value, such as `--limit 5`. */
export function flagsOf(text: string): string[] {
  return spansOf(text.replaceAll(/^```.*\n[\s\S]*?^```$/gm, '')).filter((span) => /^--[a-z-]+[ =]\S/.test(span));
}

function spansOf(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span.replaceAll(/\s+/g, ' ').trim());
}

/** The commands of a line, each as the words that a shell makes of it, with variables as they are written. Runs nothing. */
export function simpleCommands(line: string): string[][] {
  const found: string[][] = [];
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'Command' && node.name !== undefined) {
      found.push([node.name, ...node.args].map((word) => shellWord(word).text));
    }
    forEachChild(node, visit);
  };
  visit(parse(line));
  return found;
}
