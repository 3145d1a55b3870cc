import type { Mode } from 'countersign/policy';
import { type CommonOptions, withClient } from '../base/command-line.ts';
import { printReceipt } from '../base/print-receipt.ts';
import { readPolicyDocument } from './read-policy-document.ts';
import { UsageError } from '../base/report-error.ts';
import { type ReviewerOptions, senderOf } from '../base/reviewer.ts';
import { type SignerOptions, signerOf } from '../base/signer.ts';

export interface ApplyOptions extends CommonOptions, ReviewerOptions, SignerOptions {
  mode?: Mode;
  channels?: string[];
}

/** Changes the policy, the mode, the channels, or several of them, of a running run. */
export async function applyPolicy(workflowId: string, file: string | undefined, options: ApplyOptions): Promise<void> {
  const { mode, channels } = options;
  if (file === undefined && mode === undefined && channels === undefined) {
    throw new UsageError('Say what to apply: a policy file, --mode MODE, --channels NAME, or several of them.');
  }
  const policy = file === undefined ? undefined : await readPolicyDocument(file);
  await withClient(options, async (client, output) => {
    const message = { policy, mode, channels, ...senderOf(options) };
    printReceipt(output, await client.setPolicy(workflowId, message, signerOf(options)));
  });
}
