import type { Command } from 'commander';
import { type AlwaysOptions, alwaysOf, withAlways } from './always.ts';
import type { AnswerAllOptions } from './answer-all.ts';
import { wholeNumber, withClient } from '../base/command-line.ts';
import { MissingArgumentError, UsageError } from '../base/report-error.ts';
import { sendDecision, withDecision } from './send-decision.ts';

/** `countersign approve ID|--all`: sends one decision and prints its receipt, or one for all that wait. */
export function addApprove(program: Command): void {
  addAnswer(program, 'approve', true, 'let a waiting call run', 'also approve future matching calls');
}

/** `countersign deny ID|--all`. */
export function addDeny(program: Command): void {
  addAnswer(program, 'deny', false, 'refuse a waiting call', 'also deny future matching calls');
}

interface AnswerOptions extends AnswerAllOptions, AlwaysOptions {
  all?: boolean;
}

function addAnswer(program: Command, name: string, approved: boolean, description: string, always: string): void {
  const command = withAlways(withDecision(program.command(`${name} [id]`)).description(description), always)
    .option('--all', 'every request that waits now: shows them, asks, and answers exactly these')
    .option('--tool <tool>', 'with --all: only calls of this tool')
    .option('--agent <agent>', 'with --all: only calls of this agent')
    .option('--limit <n>', 'with --all: the most requests (default: 100)', wholeNumber(1, 10_000))
    .option('--yes', 'with --all: do not ask');
  if (approved) command.option('--unseen', 'approve although not all arguments can be read');
  command.action(async (requestId: string | undefined, options: AnswerOptions) => {
    const { all = false, ...rest } = options;
    refuseMixed(name, requestId, options);
    const decision = { requestId: requestId ?? '', approved, always: alwaysOf(options) };
    const mustBeShown = approved && options.unseen !== true;
    const { answerAll } = await import('./answer-all.ts');
    return withClient(options, (client, output) =>
      all
        ? answerAll(client, output, approved, rest)
        : sendDecision(client, output, { ...options, mustBeShown }, decision),
    );
  });
}

/** Refuses an id with --all, no id without it, and flags that do not go with either. */
function refuseMixed(name: string, requestId: string | undefined, options: AnswerOptions): void {
  const { all = false, tool, agent, limit, yes, always, digest } = options;
  if (all === (requestId !== undefined)) {
    const Mistake = all ? UsageError : MissingArgumentError;
    throw new Mistake(`Say which request: its id, or --all for every one that waits, as in countersign ${name} --all.`);
  }
  if (all && (always !== undefined || digest !== undefined)) {
    throw new UsageError('--always and --digest are about one request: they do not go with --all.');
  }
  if (!all && [tool, agent, limit, yes].some((value) => value !== undefined)) {
    throw new UsageError('--tool, --agent, --limit and --yes choose among all requests: add --all, and no id.');
  }
}
