/** `npm run demo`: an agent tidies a folder and asks before it deletes a file; its worker is killed meanwhile. */
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { modelFromEnvironment } from 'countersign';
import { escapeJson, escapeText } from 'countersign/base';
import { createAskPerson, type Tell } from './ask-person.ts';
import { CleanUp } from '../dev-server/clean-up.ts';
import { play } from './play.ts';
import { startStage } from './start-stage.ts';
import { tellJson, tellPeople } from './tell.ts';

interface DemoOptions {
  yes: boolean;
  json: boolean;
  keep: boolean;
}

const usage = `Usage: npm run demo -- [--yes] [--keep] [--json]

  --yes    approve by itself instead of asking you
  --keep   leave server and worker running at the end, until Ctrl-C, to look around in Temporal's UI
  --json   print JSON, one event a line

OPENAI_API_KEY, OPENAI_BASE_URL and COUNTERSIGN_MODEL name a real model; without them a scripted one plays.
The demo starts its own Temporal server and ignores your settings for Temporal (TEMPORAL_…).`;

const interruptedExitCode = 130;
/** Signals within this time are one Ctrl-C, because npm forwards a Ctrl-C that this process has received already. */
const sameSignalMs = 1_000;

process.exit(await main());

async function main(): Promise<number> {
  let options: DemoOptions | 'help';
  try {
    options = readDemoOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`error: ${(error as Error).message}\n`);
    return 2;
  }
  if (options === 'help') {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  return runDemo(options);
}

/** Runs the demo, and removes its files and processes however it ends. Returns the exit code; 1 also for an error. */
async function runDemo({ yes, json, keep }: DemoOptions): Promise<number> {
  const tell = json ? tellJson : tellPeople;
  const cleanUp = new CleanUp();
  const stop = stopOnSignal();
  const interrupted = once(stop, 'abort').then(() => interruptedExitCode);
  const stageEnded = Promise.withResolvers<never>();
  let isOver = false;
  const playToEnd = async (): Promise<number> => {
    if (!json) process.stdout.write('\nAn agent tidies a folder of real files, and asks before it deletes one.\n\n');
    // A wrong setting of the model throws here, before anything starts.
    const model = modelFromEnvironment(process.env);
    const stage = await startStage({ cleanUp, onEnd: stageEnded.reject });
    const askPerson = yes ? undefined : createAskPerson(json ? process.stderr : process.stdout);
    const tellUntilStopped: Tell = (event) => {
      stop.throwIfAborted();
      tell(event);
    };
    const { status } = await play({ stage, tell: tellUntilStopped, askPerson, model, keep });
    isOver = true;
    if (keep) await interrupted;
    return status === 'completed' ? 0 : 1;
  };
  const played = playToEnd();
  // Only the first result counts, so a later rejection is ignored.
  for (const promise of [played, stageEnded.promise]) promise.catch(() => undefined);
  try {
    // With --keep, Ctrl-C ends the demo after its run is over. The exit code then comes from the status of the run.
    const byCtrlC = interrupted.then((code) => (isOver ? played : code));
    const exitCode = await Promise.race([played, stageEnded.promise, byCtrlC]);
    if (exitCode === interruptedExitCode && !json) process.stdout.write('\n');
    await cleanUp.run();
    tell({ event: 'gone' });
    return exitCode;
  } catch (error) {
    await cleanUp.run();
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(json ? `${escapeJson({ event: 'error', message })}\n` : `error: ${escapeText(message)}\n`);
    return 1;
  }
}

/** Returns an `AbortSignal` for Ctrl-C and the like, and for a closed output. A second Ctrl-C ends the process. */
function stopOnSignal(): AbortSignal {
  const stop = new AbortController();
  let firstAt: number | undefined;
  const onSignal = (): void => {
    if (firstAt !== undefined && performance.now() - firstAt > sameSignalMs) process.exit(interruptedExitCode);
    firstAt ??= performance.now();
    stop.abort(new Error('interrupted'));
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  process.stdout.on('error', () => stop.abort(new Error('standard output is closed')));
  return stop.signal;
}

/** Reads the options; `help` for --help. Throws an error with one sentence for an unknown option. */
function readDemoOptions(words: string[]): DemoOptions | 'help' {
  const flag = { type: 'boolean', default: false } as const;
  const options = { yes: flag, json: flag, keep: flag, help: { ...flag, short: 'h' } };
  try {
    const { help, ...chosen } = parseArgs({ args: words, options }).values;
    return help ? 'help' : chosen;
  } catch {
    const unknown = words.filter((word) => !['--yes', '--json', '--keep'].includes(word));
    throw new Error(`The demo knows --yes, --keep, --json and --help, not '${unknown.join(' ')}'.`);
  }
}
