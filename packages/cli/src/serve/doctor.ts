import type { Command } from 'commander';
import { isProblemError, type ProblemCode } from 'countersign/base';
import type { Check } from 'countersign/client';
import { type ClientFlags, withClient, withClientFlags } from '../base/command-line.ts';
import { loadChannels } from '../base/load-config.ts';
import { printMarked, processOutput, exitCodeOf, UsageError, type Output } from '../base/output.ts';

/** Adds the command that checks channels, server and workers, and prints a line for each check. */
export function addDoctor(command: Command): void {
  withClientFlags(command)
    .option('--task-queue <name>', 'where runs start (default: that of the module, else countersign)')
    .option('--send', 'also send a test message by each channel of the module')
    .action(async (options: ClientFlags & { taskQueue?: string; send?: true }) => {
      const channels = await checkChannels(options.config);
      if (channels !== undefined) printCheck(processOutput(options), channels);
      if (options.send === true && channels?.isOk === true) await sendTests(options);
      const longestWaitMs = await longestWait(options.config);
      try {
        await withClient(options, async (client, output) => {
          for (const check of await client.check({ longestWaitMs })) printCheck(output, check);
        });
      } catch (error) {
        await reportWithoutClient(error, processOutput(options));
      }
    });
}

/** Reports the check of the SDK, which needs no client, and a failed server. Throws an error that is neither. */
async function reportWithoutClient(error: unknown, output: Output): Promise<void> {
  if (!isProblemError(error)) throw error;
  const { checkSdk, startCommandIn } = await import('countersign/adapter');
  const sdk = await checkSdk();
  const isOfServer = serverProblems.includes(error.code);
  if (sdk.isOk && !isOfServer) throw error;
  printCheck(output, sdk);
  if (!isOfServer) return;
  const { code, message } = error;
  printCheck(output, { check: 'server', isOk: false, message, command: startCommandIn(message) });
  process.exitCode = exitCodeOf(code);
}

/** Returns how long the operator's policy lets a request wait; undefined without a limit or a readable policy. */
async function longestWait(module: string | undefined): Promise<number | undefined> {
  const { defaultMaxTimeoutMs } = await import('countersign/policy');
  const { loadCeiling } = await import('../policy/policy-file.ts');
  const ceiling = await loadCeiling(module);
  if (ceiling === undefined) return undefined;
  const { maxTimeoutMs = defaultMaxTimeoutMs } = ceiling.approval;
  return maxTimeoutMs ?? undefined;
}

const serverProblems: readonly ProblemCode[] = ['server_unreachable', 'unauthenticated', 'forbidden', 'rate_limited'];

/** The result of a check: of one by the client, or of the check of channels, which only this command makes. */
type Checked = Omit<Check, 'check'> & { check: Check['check'] | 'channels' };

/** Creates the channels of the module as a worker does, without sending. Undefined if there are none. */
async function checkChannels(module: string | undefined): Promise<Checked | undefined> {
  const check = 'channels';
  try {
    const options = await loadChannels(module);
    if (options === undefined) return undefined;
    const { channelSetOf } = await import('countersign/adapter');
    const set = channelSetOf(options);
    const names = [...(set?.channels.keys() ?? [])];
    const rest = set?.table?.default.length === 0 ? ' Only the inbox has requests that no route matches.' : '';
    const message = `A worker can start with its channels: ${names.join(', ') || 'none'}.${rest}`;
    return { check, isOk: true, message };
  } catch (error) {
    if (error instanceof UsageError) throw error; // the user named a module that does not exist
    return { check, isOk: false, message: error instanceof Error ? error.message : String(error) };
  }
}

async function sendTests(options: ClientFlags): Promise<void> {
  const { channelSetOf } = await import('countersign/adapter');
  const { testChannels } = await import('./channels.ts');
  const set = channelSetOf((await loadChannels(options.config)) ?? {});
  await testChannels(set?.channels ?? [], options, processOutput(options));
}

function printCheck(output: Output, { check, isOk, message, command }: Checked): void {
  printMarked(output, isOk, `${check}: ${message}`, { check, ok: isOk, message, command });
}
