import type { Command } from 'commander';
import { parseDuration, ProblemError } from 'countersign/base';
import type { CountersignClient } from 'countersign/client';
import { type ClientFlags, withClient, withClientFlags } from '../base/command-line.ts';
import { printReceipt } from '../base/output.ts';
import { UsageError } from '../base/report-error.ts';
import { findNamed } from '../base/request-id.ts';
import {
  type ReviewerOptions,
  senderOf,
  withReviewer,
  type SignerOptions,
  signerOf,
  withSigner,
} from '../base/reviewer.ts';

interface ExtendOptions extends ClientFlags, ReviewerOptions, SignerOptions {
  run?: string;
  until?: string;
  for?: string;
}

/** `countersign extend ID`: moves a request's deadline. */
export function addExtend(program: Command): void {
  const command = withClientFlags(program.command('extend <id>'))
    .description('give a waiting call more time')
    .option('--until <instant>', 'its new deadline, in UTC, such as 2030-01-31T12:00:00Z')
    .option('--for <duration>', 'how much later than its present deadline, such as 30m')
    .option('--run <workflow id>', 'the run that has the request; saves a search');
  withSigner(withReviewer(command, 'why; the audit keeps it')).action((id: string, options: ExtendOptions) => {
    const { until, for: more } = options;
    if ((until === undefined) === (more === undefined)) {
      throw new UsageError('Say how long it may wait: --until INSTANT, or --for 30m.');
    }
    const moreMs = more === undefined ? undefined : durationMs(more);
    return withClient(options, async (client, output) => {
      const given = { workflowId: options.run };
      const { requestId } = await findNamed(client, id, options.run);
      const to =
        moreMs === undefined ? { until: until!, ...given } : await afterDeadline(client, requestId, moreMs, given);
      const { until: instant, ...where } = to;
      const message = { requestId, until: instant, ...senderOf(options) };
      printReceipt(output, await client.extend(message, { ...where, ...signerOf(options) }));
    });
  });
}

async function afterDeadline(
  client: CountersignClient,
  requestId: string,
  moreMs: number,
  given: { workflowId?: string },
): Promise<{ until: string; workflowId: string }> {
  const { deadline, workflowId } = await client.approvals.get(requestId, given);
  if (deadline === null) {
    throw new ProblemError({ code: 'invalid_message', message: `request ${requestId} has no deadline` });
  }
  return { until: new Date(Date.parse(deadline) + moreMs).toISOString(), workflowId };
}

function durationMs(text: string): number {
  const parsed = parseDuration(text);
  if ('durationMs' in parsed && parsed.durationMs !== null) return parsed.durationMs;
  throw new UsageError(`--for must be a whole number and a unit, such as 30s, 5m, 1h or 1d.`);
}
