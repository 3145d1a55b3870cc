import { parseArgs } from 'node:util';

export interface DemoOptions {
  /** Approve without asking. */
  yes: boolean;
  /** JSON lines instead of sentences. */
  json: boolean;
  /** Leave the server and the worker running at the end, until Ctrl-C. */
  keep: boolean;
}

export const usage = `Usage: npm run demo -- [--yes] [--keep] [--json]

  --yes    approve by itself instead of asking you
  --keep   leave server and worker running at the end, until Ctrl-C, to look around in Temporal's UI
  --json   print JSON, one event a line

OPENAI_API_KEY, OPENAI_BASE_URL and COUNTERSIGN_MODEL name a real model; without them a scripted one plays.
The demo starts its own Temporal server and ignores your settings for Temporal (TEMPORAL_…).`;

/** `help` for --help. Throws an error with one sentence for an unknown option. */
export function readDemoOptions(words: string[]): DemoOptions | 'help' {
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
