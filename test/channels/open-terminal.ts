import { spawn } from 'node:child_process';
import { quoteWord } from '../../src/text/visible-text.ts';
import { eventually } from '../support/eventually.ts';

/** A program on a terminal of its own (`script`). When it has ended, the terminal shows whether lines are echoed. */
export function openTerminal(words: readonly string[], env: Record<string, string> = {}) {
  const modes = 'stty -a | grep -ow -e "-*icanon" -e "-*echo" | tr "\\n" " "';
  const command = `stty cols 300; trap : INT; ${words.map(quoteWord).join(' ')}; code=$?; ${modes}; exit $code`;
  const child = spawn('script', ['-qfec', command, '/dev/null'], {
    env: { ...process.env, TERM: 'xterm-256color', ...env, NODE_OPTIONS: '', NO_COLOR: '1' },
  });
  let printed = '';
  let read = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text.replaceAll('\r\n', '\n')));
  child.stdin.on('error', () => undefined); // for a program that has ended
  return {
    /** Its exit code. */
    ended: new Promise<number | null>((resolve) => child.once('close', resolve)),
    /** Everything that it shows, also what is typed. */
    printed: () => printed,
    /** Waits until it shows this after what was waited for before, and returns what came up to it. */
    shows: (text: string) =>
      eventually(
        () => `'${text}' on the terminal, not ${printed.slice(read)}`,
        () => {
          const at = printed.indexOf(text, read);
          if (at === -1) return undefined;
          const from = read;
          read = at + text.length;
          return printed.slice(from, read);
        },
      ),
    type: (keys: string) => child.stdin.write(keys),
    close: () => child.kill(),
  };
}
