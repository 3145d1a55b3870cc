import { once } from 'node:events';
import { countersignFolder } from '../base/countersign-folder.ts';
import { signalGroup, spawnBound } from '../dev-server/bound-child.ts';

export interface AgentWorker {
  pid: number;
  /** `kill -9`; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Asks it to end, and kills it after 5 s. */
  stop(): Promise<void>;
}

const stopTimeoutMs = 5_000;
const keptOutput = 4_000;

/**
 * Starts `countersign worker examples/tidy/agent.ts` in its own process and waits until it is ready. If the process
 * ends by itself, `onEnd` gets its last error output as an error; if it was not ready yet, the caller gets it too.
 */
export async function startAgentWorker(options: {
  address: string;
  /** The file with the workflow code. */
  bundle: string;
  folder: string;
  onStart: (worker: AgentWorker) => void;
  onEnd: (error: Error) => void;
}): Promise<AgentWorker> {
  const { address, bundle, folder, onStart, onEnd } = options;
  const words = [
    'packages/cli/src/main.ts',
    'worker',
    'examples/tidy/agent.ts',
    '--address',
    address,
    '--bundle',
    bundle,
  ];
  const child = spawnBound(process.execPath, words, {
    cwd: countersignFolder,
    env: { ...process.env, TIDY_FOLDER: folder },
  });
  let lastWords = '';
  let expected = false;
  child.stderr.setEncoding('utf8').on('data', (text: string) => (lastWords = (lastWords + text).slice(-keptOutput)));
  const gone = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    expected = true;
    signalGroup(child, signal);
    await gone;
  };
  const worker: AgentWorker = {
    pid: child.pid ?? 0,
    kill: () => end('SIGKILL'),
    stop: async () => {
      const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), stopTimeoutMs);
      await end('SIGTERM');
      clearTimeout(timer);
    },
  };
  onStart(worker);
  const ended = gone.then(() => {
    const error = new Error(sentenceOf(lastWords));
    if (!expected) onEnd(error);
    throw error;
  });
  ended.catch(() => undefined); // reported to `onEnd`
  // Its first line on standard output lists its agents.
  await Promise.race([once(child.stdout, 'data'), ended]);
  child.stdout.resume();
  return worker;
}

function sentenceOf(lastWords: string): string {
  const error = lastWords.split('\n').findLast((line) => line.startsWith('error: '));
  return (
    error?.slice('error: '.length) ??
    `The worker ended by itself: ${lastWords.trim().split('\n').at(-1) || 'it said nothing'}`
  );
}
