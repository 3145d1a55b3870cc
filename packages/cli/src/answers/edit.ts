import type { Command } from 'commander';
import { isObject } from 'countersign/base';
import { renderChanges } from './argument-changes.ts';
import { withClient } from '../base/command-line.ts';
import { readJsonOrFile } from '../base/read-json-option.ts';
import { UsageError } from '../base/report-error.ts';
import { findNamed } from '../base/request-id.ts';
import { type DecisionOptions, sendDecision, withDecision } from './send-decision.ts';

interface EditOptions extends DecisionOptions {
  args: string;
}

/**
 * `countersign edit ID --args JSON`: approves a call with other arguments and shows how they differ from the requested
 * ones.
 */
export function addEdit(program: Command): void {
  withDecision(program.command('edit <id>'))
    .description('let a waiting call run with other arguments')
    .requiredOption('--args <json>', 'all its arguments, changed or not; @FILE reads them from a file')
    .action(async (id: string, options: EditOptions) => {
      const modifiedArguments = await readJsonOrFile('--args', options.args);
      if (!isObject(modifiedArguments)) throw new UsageError('--args must be an object with all arguments.');
      await withClient(options, async (client, output) => {
        const { run } = options;
        const { requestId } = await findNamed(client, id, run);
        const request = await client.approvals.get(requestId, { workflowId: run });
        const { arguments: shown, digest, workflowId } = request;
        const changes = renderChanges(output, shown, modifiedArguments);
        // Otherwise arguments that this view omits would look new.
        const left = request.shown === 'all' ? '' : 'The present arguments are not shown to reviewers.\n';
        if (output.forPeople) output.line(`${left}${changes}`);
        else output.note(`${left}${changes}`);
        // Decide by the digest of the compared request: if the request has changed, the edit is refused.
        const decided = { digest, ...options, run: workflowId };
        await sendDecision(client, output, decided, { requestId, approved: true, modifiedArguments });
      });
    });
}
