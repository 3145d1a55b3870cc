import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** Runs one benchmark in its own process and returns its numbers; its progress goes to standard error. */
export async function measureBy(name: string, options: readonly string[]): Promise<object> {
  process.stderr.write(`\nbench:${name}\n`);
  const script = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, [script, '--json', ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  // The exit code is ignored: it says whether a budget was exceeded, which the numbers say too.
  if (!said.trimStart().startsWith('{')) throw new Error(`bench:${name} printed no numbers: ${said.slice(0, 200)}`);
  return JSON.parse(said) as object;
}
