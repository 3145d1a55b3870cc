import { execFile, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { eventually } from './eventually.ts';

/** A program on a real terminal, which tmux provides. */
export interface TmuxTerminal {
  /** What is on the screen, one line per row; `styled`: with the escapes that colour it. */
  screen(styled?: boolean): Promise<string>;
  /** Waits until the screen shows this text, and returns the screen. */
  shows(text: string | RegExp): Promise<string>;
  /** Waits until the screen shows it no more. */
  loses(text: string | RegExp): Promise<string>;
  /** Presses keys by tmux's names, such as `a`, `Enter`, `C-c`, `PageDown`. */
  press(...keys: string[]): Promise<void>;
  /** Types a text, one key after another. */
  type(text: string): Promise<void>;
  /** Pastes a text as a terminal with bracketed paste does. */
  paste(text: string): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** Waits until the program has ended; `restored`: main screen, visible cursor, line mode with echo. */
  ended(): Promise<{ code: number; screen: string; restored: boolean }>;
  close(): Promise<void>;
}

export interface TmuxOptions {
  columns?: number;
  rows?: number;
  env?: Record<string, string>;
}

export function hasTmux(): boolean {
  try {
    execFileSync('tmux', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const run = promisify(execFile);

/** Starts a program on a terminal of its own. */
export async function openTmux(
  words: readonly string[],
  { columns = 80, rows = 24, env = {} }: TmuxOptions = {},
): Promise<TmuxTerminal> {
  const server = ['-L', `countersign-${randomUUID()}`, '-f', '/dev/null', '-u'];
  const ofTmux = { ...process.env, TMUX: '', TERM: 'xterm-256color' };
  // tmux sets TERM itself.
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const script = '"$@"; echo "exit=$? $(stty -a | grep -ow -e "-*icanon" -e "-*echo" | tr "\\n" " ")"; exec cat';
  const size = ['-x', `${columns}`, '-y', `${rows}`];
  const session = ['new-session', '-d', ...size, 'sh', '-c', script, 'sh', 'env', ...settings, ...words];
  await run('tmux', [...server, ...session], { env: ofTmux });
  const tmux = controlTmux(server, ofTmux);
  const screen = (styled = false): Promise<string> => tmux('capture-pane', '-p', ...(styled ? ['-e'] : []));
  const holds = (text: string | RegExp, shown: string): boolean =>
    typeof text === 'string' ? shown.includes(text) : text.test(shown);
  const until = async (what: string, isRight: (shown: string) => boolean): Promise<string> => {
    let last = '';
    return eventually(
      () => `${what}; the screen is\n${last}`,
      async () => {
        last = await screen();
        return isRight(last) && last;
      },
    );
  };
  return {
    screen,
    shows: (text) => until(`the screen shows ${text}`, (shown) => holds(text, shown)),
    loses: (text) => until(`the screen loses ${text}`, (shown) => !holds(text, shown)),
    press: async (...keys) => void (await tmux('send-keys', ...keys)),
    type: async (text) => void (await tmux('send-keys', '-l', '--', text)),
    paste: async (text) => {
      await tmux('set-buffer', '--', text);
      await tmux('paste-buffer', '-p');
    },
    resize: async (wide, high) => void (await tmux('resize-window', '-x', `${wide}`, '-y', `${high}`)),
    ended: async () => {
      const shown = await until('the program ends', (text) => text.includes('exit='));
      const [, code = '', modes = ''] = /exit=(\d+) (.*)/.exec(shown)!;
      const flags = await tmux('display-message', '-p', '#{alternate_on} #{cursor_flag}');
      const restored = flags.trim() === '0 1' && modes.trim() === 'icanon echo';
      return { code: Number(code), screen: shown, restored };
    },
    close: async () => void (await tmux('kill-server').catch(() => undefined)),
  };
}

/** One client for all commands: a test looks at the screen many times a second, and a client each time is costly. */
function controlTmux(server: readonly string[], env: NodeJS.ProcessEnv): (...words: string[]) => Promise<string> {
  const client = spawn('tmux', [...server, '-C', 'attach-session', '-f', 'ignore-size'], { env });
  client.stdin.on('error', () => undefined); // a server that ends takes no more commands
  const waiting: PromiseWithResolvers<string>[] = [];
  let answer: string[] | undefined;
  createInterface({ input: client.stdout }).on('line', (line) => {
    // Blocks with another flag do not answer a command of this client.
    const [, mark, flag] = /^%(begin|end|error) \d+ \d+ (\d)$/.exec(line) ?? [];
    if (mark === undefined) answer?.push(line);
    else if (mark === 'begin') answer = flag === '1' ? [] : undefined;
    else if (answer !== undefined) {
      const text = answer.map((each) => `${each}\n`).join('');
      answer = undefined;
      if (mark === 'end') waiting.shift()?.resolve(text);
      else waiting.shift()?.reject(new Error(`tmux: ${text}`));
    }
  });
  client.once('close', () => {
    for (const each of waiting.splice(0)) each.reject(new Error('tmux has ended'));
  });
  return (...words) => {
    if (client.exitCode !== null) return Promise.reject(new Error('tmux has ended'));
    const reply = Promise.withResolvers<string>();
    waiting.push(reply);
    client.stdin.write(`${words.map(quoteWord).join(' ')}\n`);
    return reply.promise;
  };
}

function quoteWord(word: string): string {
  const quoted = word.replaceAll(/["\\$]/g, '\\$&').replaceAll('\n', '\\n');
  return `"${quoted}"`;
}
