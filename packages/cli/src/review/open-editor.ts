import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { escapeJson, isObject, type JsonObject } from 'countersign/base';
import { readJson } from 'countersign/json';

/** The command of the user's editor: $VISUAL, else $EDITOR; undefined if neither is set. */
export function editorCommand(environment: NodeJS.ProcessEnv): string | undefined {
  const { VISUAL: visual = '', EDITOR: editor = '' } = environment;
  return visual.trim() || editor.trim() || undefined;
}

/**
 * Lets the user edit the arguments as JSON in a file that only they can read and that is removed afterwards. Invisible
 * characters are written as JSON escapes. Returns one sentence if the result cannot be used.
 */
export async function openEditor(
  command: string,
  args: JsonObject,
): Promise<{ arguments: JsonObject } | { problem: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-edit-')); // with mode 0700
  try {
    const file = join(folder, 'arguments.json');
    const before = `${escapeJson(args, 2)}\n`;
    await writeFile(file, before, { mode: 0o600, flag: 'wx' });
    const problem = await runEditor(command, file);
    if (problem !== undefined) return { problem };
    const after = await readFile(file, 'utf8').catch(() => undefined);
    if (after === undefined) return { problem: 'The editor removed the file: nothing is changed.' };
    if (after === before) return { problem: 'Nothing is changed.' };
    return readArguments(after);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** As git does, through the shell: the variable may hold words, such as `code --wait`. */
function runEditor(command: string, file: string): Promise<string | undefined> {
  const editor =
    process.platform === 'win32'
      ? spawn(`${command} "${file}"`, { stdio: 'inherit', shell: true })
      : spawn('sh', ['-c', `${command} "$@"`, command, file], { stdio: 'inherit' });
  const interrupts = process.rawListeners('SIGINT') as NodeJS.SignalsListener[];
  const ignore = (): void => undefined; // the editor handles Ctrl-C
  process.removeAllListeners('SIGINT').on('SIGINT', ignore);
  return new Promise<string | undefined>((resolve) => {
    editor.once('error', (error) => resolve(`The editor did not start: ${error.message}.`));
    editor.once('close', (code) => resolve(code === 0 ? undefined : 'The editor failed: nothing is changed.'));
  }).finally(() => {
    for (const each of interrupts) process.on('SIGINT', each);
    process.off('SIGINT', ignore);
  });
}

/** As strictly as a model's. */
function readArguments(text: string): { arguments: JsonObject } | { problem: string } {
  const read = readJson(text, { root: 'the arguments' });
  if ('problem' in read) return { problem: `${read.problem}.` };
  return isObject(read.value)
    ? { arguments: read.value }
    : { problem: 'The arguments must be a JSON object with all of them.' };
}
