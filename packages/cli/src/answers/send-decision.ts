import type { Command } from 'commander';
import type { CountersignClient, Decision } from 'countersign/client';
import { type ClientFlags, withClientFlags } from '../base/command-line.ts';
import { type Output, printReceipt } from '../base/output.ts';
import { requireShown } from '../base/read-request.ts';
import { findNamed } from '../base/request-id.ts';
import type { ReviewerOptions, SignerOptions } from '../base/reviewer.ts';
import { reviewerOf, withReviewer, signerOf, withSigner } from '../base/reviewer.ts';

export interface DecisionOptions extends ClientFlags, ReviewerOptions, SignerOptions {
  run?: string;
  digest?: string;
}

/** Options of `sendDecision`. `mustBeShown`: do not send the decision if not all arguments can be shown. */
export interface SendDecisionOptions extends DecisionOptions {
  mustBeShown?: boolean;
}

const viewed = { channel: 'cli' };

/** Adds the flags that all commands for one decision have: the run, the reviewer, the signature and the digest. */
export function withDecision(command: Command): Command {
  const located = withClientFlags(command).option(
    '--run <workflow id>',
    'the run that has the request; saves a search',
  );
  return withSigner(withReviewer(located, 'why; the model reads it, with a denial or an approval')).option(
    '--digest <hex>',
    'decide only if the request still has this digest',
  );
}

/** Sends one decision about the request whose id is or begins with `requestId`, and prints the receipt. */
export async function sendDecision(
  client: CountersignClient,
  output: Output,
  options: SendDecisionOptions,
  decision: Pick<Decision, 'requestId' | 'approved' | 'always' | 'response' | 'modifiedArguments'>,
): Promise<void> {
  const { run, reason, mustBeShown = false } = options;
  const { requestId, digest } = await findNamed(client, decision.requestId, run);
  const reviewerId = reviewerOf(options);
  const shownDigest = mustBeShown ? await requireShown(client, requestId, run) : undefined;
  // The digest binds the decision to one call: to that of --digest, else to the call as shown, else as listed.
  const receipt = await client.decide(
    { ...decision, requestId, reason, reviewerId, viewed, digest: options.digest ?? shownDigest ?? digest },
    { workflowId: run, ...signerOf(options) },
  );
  printReceipt(output, receipt);
}
