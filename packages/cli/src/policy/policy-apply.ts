import { withClient } from '../base/command-line.ts';
import { printReceipt } from '../base/print-receipt.ts';
import { applyToRuns } from './policy-apply-all.ts';
import { readPolicyDocument } from './read-policy-document.ts';
import { MissingArgumentError, UsageError } from '../base/report-error.ts';
import { senderOf } from '../base/reviewer.ts';
import { signerOf } from '../base/signer.ts';
import type { ApplyOptions } from './policy-apply-all.ts';

/**
 * Changes the policy, the mode, the channels, or several of them, of a running run; with --all or --query, of all that are
 * meant.
 */
export async function applyPolicy(named: readonly string[], options: ApplyOptions): Promise<void> {
  const { mode, channels, all = false, query, dryRun, yes } = options;
  const isOfMany = all || query !== undefined;
  const [workflowId, file] = isOfMany ? [undefined, ...named] : named;
  if (isOfMany && named.length > 1)
    throw new UsageError('With --all or --query, name a policy file at most, and no run.');
  if (!isOfMany && workflowId === undefined) {
    throw new MissingArgumentError('Say which runs change: a run, --all, or --query QUERY.');
  }
  if (!isOfMany && (dryRun === true || yes === true)) {
    throw new UsageError('--dry-run and --yes are for several runs: add --all or --query QUERY.');
  }
  if (file === undefined && mode === undefined && channels === undefined) {
    throw new UsageError('Say what to apply: a policy file, --mode MODE, --channels NAME, or several of them.');
  }
  const policy = file === undefined ? undefined : await readPolicyDocument(file);
  const message = { policy, mode, channels, ...senderOf(options) };
  await withClient(options, async (client, output) => {
    if (workflowId === undefined) return applyToRuns(client, output, message, options);
    printReceipt(output, await client.setPolicy(workflowId, message, signerOf(options)));
  });
}
