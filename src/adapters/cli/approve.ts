import type { Command } from 'commander';
import { type AlwaysOptions, alwaysOf, withAlways } from './always.ts';
import { withClient } from './command-line.ts';
import { type DecisionOptions, sendDecision, withDecision } from './send-decision.ts';

/** `countersign approve ID` and `countersign deny ID`: sends one decision and prints its receipt. */
export function addAnswers(program: Command): void {
  addAnswer(program, 'approve', true, 'let a waiting call run', 'also approve future matching calls');
  addAnswer(program, 'deny', false, 'refuse a waiting call', 'also deny future matching calls');
}

function addAnswer(program: Command, name: string, approved: boolean, description: string, always: string): void {
  withAlways(withDecision(program.command(`${name} <id>`)).description(description), always).action(
    (requestId: string, options: DecisionOptions & AlwaysOptions) => {
      const decision = { requestId, approved, always: alwaysOf(options) };
      return withClient(options, (client, output) => sendDecision(client, output, options, decision));
    },
  );
}
