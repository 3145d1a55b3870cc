import { workflowInfo } from '@temporalio/workflow';
import type { RunInput, RunStatus, RunStatusName } from '../../contract.ts';
import { waitingFor, type WaitingFor } from '../../core/ledger/waiting-for.ts';
import type { Gate } from '../gate/gate.ts';
import { agentOf, spentOf, type RunState } from './run-state.ts';

interface StatusParts {
  input: RunInput;
  gate: Gate;
  state: RunState | undefined;
  ended: RunStatusName | undefined;
  awaitsMessage: boolean;
  nested: Pick<RunStatus, 'nested'>;
}

/** Builds the answer of query `run`. */
export function runStatus({ input, gate, state, ended, awaitsMessage, nested }: StatusParts): RunStatus {
  const { turn = 0, executions = 1, usage = { inputTokens: 0, outputTokens: 0 }, failedTurn } = state ?? {};
  const { counts, open, outcomes, refused } = gate.ledger;
  return {
    workflowId: workflowInfo().workflowId,
    agent: state === undefined ? input.agent : agentOf(state).agent,
    status: ended ?? (open.length > 0 ? 'waiting' : 'running'),
    turn,
    executions,
    usage,
    ...(state !== undefined && spentOf(state)),
    counts: { ...counts, open: open.length, refused: refused.total },
    ...(open.length > 0 && { waitingFor: open.map((record) => withNames(waitingFor(record), gate)) }),
    ...(awaitsMessage && { awaitsMessage }),
    // `turn` counts only the model calls that succeeded.
    ...(failedTurn !== undefined && { failedTurn: { ...failedTurn, turn: turn + 1 } }),
    outcomes,
    ...nested,
    refused,
  };
}

function withNames(waiting: WaitingFor, gate: Gate): WaitingFor {
  const people = gate.peopleOf(waiting.reviewers);
  return people === undefined ? waiting : { ...waiting, people };
}
