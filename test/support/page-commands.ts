import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { forEachChild, parse, type SyntaxNode } from 'unbash';
import { shellWord } from '../../src/shell/words.ts';

/** The commands that the pages tell a reader to type. */

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface PageCommand {
  /** Path relative to the root of the repository. */
  page: string;
  line: string;
  /** True for a full command in a shell block. False for one named in a sentence, where arguments may be missing. */
  isWhole: boolean;
}

/**
 * In a sentence, only these programs mark a command to type. Others, such as git, appear as examples of policy
 * decisions.
 */
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

/**
 * The lines of the page's shell blocks and the commands that its sentences name. Throws for a command in another kind
 * of block.
 */
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

/** The commands of a line, each as a list of shell words with variables unexpanded. Runs nothing. */
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
