import type { Command } from 'commander';
import type { Json } from 'countersign/base';
import { withClient } from '../base/command-line.ts';
import { readJsonOption } from '../base/read-json-option.ts';
import { UsageError } from '../base/report-error.ts';
import { type DecisionOptions, sendDecision, withDecision } from './send-decision.ts';

interface RespondOptions extends DecisionOptions {
  jsonValue?: string;
}

/** `countersign respond ID TEXT`: the call does not run, and the model gets this text instead of its result. */
export function addRespond(program: Command): void {
  withDecision(program.command('respond <id> [text]'))
    .description("answer a waiting call yourself, in the tool's place")
    .option('--json-value <json>', 'answer with JSON instead of text')
    .action((requestId: string, text: string | undefined, options: RespondOptions) => {
      const response = responseOf(text, options.jsonValue);
      return withClient(options, (client, output) =>
        sendDecision(client, output, options, { requestId, approved: false, response }),
      );
    });
}

function responseOf(text: string | undefined, json: string | undefined): Json {
  if ((text === undefined) === (json === undefined)) {
    throw new UsageError(
      "Give the answer that the model gets instead of the tool's result: TEXT, or --json-value JSON.",
    );
  }
  return text ?? readJsonOption('--json-value', json!);
}
