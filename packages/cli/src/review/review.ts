import type { Command } from 'commander';
import { askOnTerminal, canAsk } from '../base/ask-on-terminal.ts';
import { type ClientFlags, withClient, withClientFlags } from '../base/command-line.ts';
import { UsageError } from '../base/output.ts';
import { type SignerOptions, withSigner } from '../base/reviewer.ts';

interface Options extends ClientFlags, SignerOptions {
  run?: string;
  tool?: string;
  agent?: string;
  reviewer?: string;
}

/** Adds the command that shows waiting calls one by one, and asks for an answer to each. Needs a terminal. */
export function addReview(command: Command): void {
  withClientFlags(command)
    .option('--run <workflow id>', 'only requests of this run')
    .option('--tool <name>', 'only calls of this tool')
    .option('--agent <name>', 'only calls of this agent')
    .option('--reviewer <name>', 'who you are, as a claimed name (default: the user of this system)');
  withSigner(command).action((options: Options) => {
    if (!canAsk() || options.json !== undefined) {
      throw new UsageError(
        '`review` needs a terminal to ask you on: elsewhere use `countersign approvals` and `approve`.',
      );
    }
    const { run, tool, agent } = options;
    return withClient(options, async (client, output) => {
      const { reviewRequests } = await import('./review-requests.ts');
      const filter = { workflowId: run, tool, agent };
      const ended = await askOnTerminal((asking) =>
        reviewRequests({ asking, client, output, filter, sender: options }),
      );
      if (ended === 'interrupted') process.exitCode = 130;
    });
  });
}
