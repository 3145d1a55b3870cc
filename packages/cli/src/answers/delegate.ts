import type { Command } from 'commander';
import { type ClientFlags, withClient, withClientFlags } from '../base/command-line.ts';
import { printReceipt } from '../base/print-receipt.ts';
import { findNamed } from '../base/request-id.ts';
import { type ReviewerOptions, senderOf, withReviewer } from '../base/reviewer.ts';
import { type SignerOptions, signerOf, withSigner } from '../base/signer.ts';

interface DelegateOptions extends ClientFlags, ReviewerOptions, SignerOptions {
  run?: string;
  to: string;
  from?: string;
}

/** `countersign delegate ID --to NAME`: lets somebody else decide in your place, or in that of `--from`. */
export function addDelegate(program: Command): void {
  const command = withClientFlags(program.command('delegate <id>'))
    .description('let somebody else decide in your place')
    .requiredOption('--to <name>', 'who')
    .option('--from <name>', 'in whose place, if you are an operator; needs --reason')
    .option('--run <workflow id>', 'the run that has the request; saves a search');
  withSigner(withReviewer(command, 'why; the audit keeps it')).action((id: string, options: DelegateOptions) =>
    withClient(options, async (client, output) => {
      const { to, from, run } = options;
      const { requestId } = await findNamed(client, id, run);
      const message = { requestId, to, ...(from !== undefined && { from }), ...senderOf(options) };
      printReceipt(output, await client.delegate(message, { workflowId: run, ...signerOf(options) }));
    }),
  );
}
