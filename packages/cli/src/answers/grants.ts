import type { Command } from 'commander';
import { escapeText, instantText, shownPerson, terminalClock } from 'countersign/base';
import type { Grant } from 'countersign/client';
import { type ClientFlags, withClient, withClientFlags } from '../base/command-line.ts';
import { namedRun } from '../base/named-run.ts';
import { scopeText } from '../inbox/card-view.ts';
import { jsonFields } from '../base/json-fields.ts';
import { printReceipt, UsageError, type Output } from '../base/output.ts';
import { refuseMistyped } from '../base/client-options.ts';
import type { ReviewerOptions, SignerOptions } from '../base/reviewer.ts';
import { senderOf, withReviewer, signerOf, withSigner } from '../base/reviewer.ts';
import { renderTable } from '../base/table.ts';

interface RevokeOptions extends ClientFlags, ReviewerOptions, SignerOptions {
  all?: boolean;
}

/** Adds the commands that list and revoke the grants of a run, to the group `grants`. */
export function addGrants(grants: Command): void {
  refuseMistyped(grants, 'list');

  withClientFlags(grants.command('list <run>', { isDefault: true }), jsonFields.grant)
    .description('list the grants and standing denials of a run')
    .action((run: string, options: ClientFlags) =>
      withClient(options, async (client, output) => {
        const all = await client.grants(await namedRun(client, run));
        if (!output.forPeople) for (const grant of all) output.json(grant);
        else output.line(all.length === 0 ? 'This run has no grants.' : renderGrants(output, all));
      }),
    );

  const revoke = withClientFlags(grants.command('revoke <run> [ids...]'))
    .description('revoke grants of a run; calls that they answered stay answered')
    .option('--all', 'all of them');
  withSigner(withReviewer(revoke, 'why; the audit keeps it')).action(
    (run: string, ids: string[], options: RevokeOptions) => {
      if ((options.all === true) === ids.length > 0) {
        throw new UsageError('Say which grants: their ids, as `countersign grants list` shows them, or --all.');
      }
      return withClient(options, async (client, output) => {
        const message = { grants: ids.length > 0 ? ids : ('all' as const), ...senderOf(options) };
        printReceipt(output, await client.revoke(await namedRun(client, run), message, signerOf(options)));
      });
    },
  );
}

/** Renders grants as a table. A tool that is denied for good after many denials has their number as its scope. */
export function renderGrants(output: Output, grants: Grant[]): string {
  return renderTable(
    output,
    ['GRANT', 'TOOL', 'ANSWER', 'SCOPE', 'USES LEFT', 'UNTIL', 'BY', 'REQUEST'],
    grants.map(({ grantId, tool, approved, scope, usesLeft, expiresAtMs, by = [], requestId = '', denials }) => [
      escapeText(grantId),
      escapeText(tool),
      approved ? 'approve' : 'deny',
      denials === undefined ? scopeText(scope) : `what asks: denied ${denials} times`,
      usesLeft === undefined ? 'any' : String(usesLeft),
      untilText(expiresAtMs, denials),
      by.map((each) => escapeText(reviewerText(each))).join(', '),
      escapeText(requestId),
    ]),
    { whole: ['GRANT', 'REQUEST'] },
  );
}

function reviewerText({ reviewerId, reviewerName }: NonNullable<Grant['by']>[number]): string {
  return reviewerId === undefined ? 'an unnamed reviewer' : shownPerson(reviewerId, reviewerName);
}

function untilText(expiresAtMs: number | undefined, denials: number | undefined): string {
  if (expiresAtMs !== undefined) return instantText(new Date(expiresAtMs).toISOString(), terminalClock());
  return denials === undefined ? 'the run ends' : 'its user writes, or the run ends';
}
