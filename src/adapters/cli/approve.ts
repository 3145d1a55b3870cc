import type { Command } from 'commander';
import { type AlwaysOptions, alwaysOf, withAlways } from './always.ts';
import { withClient } from './command-line.ts';
import { type DecisionOptions, sendDecision, withDecision } from './send-decision.ts';

/** `countersign approve ID`: sends one decision and prints its receipt. */
export function addApprove(program: Command): void {
  addAnswer(program, 'approve', true, 'let a waiting call run', 'also approve future matching calls');
}

/** `countersign deny ID`. */
export function addDeny(program: Command): void {
  addAnswer(program, 'deny', false, 'refuse a waiting call', 'also deny future matching calls');
}

interface AnswerOptions extends DecisionOptions, AlwaysOptions {
  unseen?: boolean;
}

function addAnswer(program: Command, name: string, approved: boolean, description: string, always: string): void {
  const command = withAlways(withDecision(program.command(`${name} <id>`)).description(description), always);
  if (approved) command.option('--unseen', 'approve although not all arguments can be read');
  command.action((requestId: string, options: AnswerOptions) => {
    const decision = { requestId, approved, always: alwaysOf(options) };
    const mustBeShown = approved && options.unseen !== true;
    return withClient(options, (client, output) => sendDecision(client, output, { ...options, mustBeShown }, decision));
  });
}
