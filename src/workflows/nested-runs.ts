import { CancellationScope, workflowInfo } from '@temporalio/workflow';
import type { RunInput, RunStatus } from '../contract.ts';
import { bindingPolicies, nestedRunId, nestingProblem } from '../core/nesting.ts';
import type { ToolCall } from '../core/tool-call.ts';
import type { ApprovalGate } from './approval-gate.ts';
import { runNested } from './run-nested.ts';
import type { ToolEnd } from './run-tool.ts';

/** The runs that calls of agents start: what they inherit of this one, and how they end with it. */
export class NestedRuns {
  readonly #input: RunInput;
  readonly #gate: ApprovalGate;
  readonly #scope = new CancellationScope();
  #inTurn = 0;

  constructor(input: RunInput, gate: ApprovalGate) {
    this.#input = input;
    this.#gate = gate;
  }

  /** Workflow ids of the runs above this one, the root's first. */
  get lineage(): string[] {
    return this.#input.parent?.lineage ?? [];
  }

  newTurn(): void {
    this.#inTurn = 0;
  }

  /** Why one more call of an agent cannot start a run; undefined if it can, and then it counts. */
  problem(callId: string): string | undefined {
    const { workflowId } = workflowInfo();
    return nestingProblem({
      depth: this.lineage.length,
      before: this.#inTurn++,
      workflowId: nestedRunId(workflowId, callId),
    });
  }

  /** Runs one admitted call. The policies go along as they are in force now. */
  run({ callId, args }: ToolCall, agent: string, resultBytes: number): Promise<ToolEnd> {
    const { workflowId } = workflowInfo();
    const { caller, metadata } = this.#input;
    const input = {
      agent,
      input: args['input'] as string,
      ...(caller && { caller }),
      ...(metadata && { metadata }),
      parent: { lineage: [...this.lineage, workflowId], policies: bindingPolicies(this.#gate.policies) },
    };
    const nested = { workflowId: nestedRunId(workflowId, callId), input, resultBytes };
    return this.#scope.run(() => runNested({ ...nested, journal: this.#gate.takeJournal() }));
  }

  /** Cancels those that are open: a run that is closed waits for them no longer than that takes. */
  cancel(): void {
    this.#scope.cancel();
  }

  /** Those of these running calls. */
  listed(running: { callId: string; agent: string }[]): Pick<RunStatus, 'nested'> {
    const { workflowId } = workflowInfo();
    if (running.length === 0) return {};
    return { nested: running.map((each) => ({ ...each, workflowId: nestedRunId(workflowId, each.callId) })) };
  }
}
