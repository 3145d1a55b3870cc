import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { escapeText } from '../../core/escape-text.ts';
import { type CommonOptions, withClient, withCommonOptions } from './command-line.ts';
import { refuseFlags } from './not-built-yet.ts';

interface AnswerOptions extends CommonOptions {
  run?: string;
  reason?: string;
  reviewer?: string;
  digest?: string;
}

/** `countersign approve ID` and `countersign deny ID`: one decision, and what became of it. */
export function addAnswers(program: Command): void {
  addAnswer(program, 'approve', true, 'let a waiting call run');
  addAnswer(program, 'deny', false, 'refuse a waiting call');
}

function addAnswer(program: Command, name: string, approved: boolean, description: string): void {
  const command = withCommonOptions(program.command(`${name} <id>`))
    .description(description)
    .option('--run <workflow id>', 'the run that asks; spares a look-up')
    .option('--reason <text>', 'why; the model is told the reason of a denial')
    .option('--reviewer <name>', 'who decides, as a claimed name (default: the user of this system)')
    .option('--digest <hex>', 'decide only if the request still has this digest');
  refuseFlags(command, ['--always']).action((requestId: string, options: AnswerOptions) =>
    withClient(options, async (client, output) => {
      const { run, reason, digest } = options;
      const reviewerId = options.reviewer ?? systemUser();
      const receipt = await client.decide(
        {
          requestId,
          approved,
          ...(reason === undefined ? {} : { reason }),
          ...(reviewerId === undefined ? {} : { reviewerId }),
          ...(digest === undefined ? {} : { digest }),
        },
        run === undefined ? {} : { workflowId: run },
      );
      if (output.forPeople) output.line(escapeText(receipt.message));
      else output.json(receipt);
    }),
  );
}

/** Undefined for a process whose user has no name, as in some containers. */
function systemUser(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}
