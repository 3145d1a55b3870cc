import { CancellationScope, workflowInfo } from '@temporalio/workflow';
import { parentsChangedName, type RunInput, type RunStatus } from '../../contract.ts';
import { byteLength } from '../../core/base/text.ts';
import { bindingPolicies, maxInheritedBytes, nestedRunId, nestingProblem } from '../../core/policy/nesting.ts';
import type { Policy, PolicyLayers } from '../../core/policy/policy.ts';
import type { ToolCall } from '../../core/base/tool-call.ts';
import type { Gate } from '../gate/gate.ts';
import { runNested, type NestedRun } from './run-nested.ts';
import type { ToolEnd } from './run-tool.ts';

/** A nested run in flight. */
interface Open {
  scope: CancellationScope;
  /** The policies that it has: those active when it was started, or when it was last told of a change. */
  knows: PolicyLayers;
  /** Undefined until the run has started. */
  run?: Parameters<NestedRun['onStarted']>[0];
}

/** Bytes that one task may send: a message to the server takes 4 MB, and also holds other commands. */
const maxToldBytes = 2_000_000;

/** The runs that calls of agents start: what they inherit from this run, and how they end with it. */
export class NestedRuns {
  readonly #input: RunInput;
  readonly #gate: Gate;
  #scope = new CancellationScope();
  readonly #open = new Set<Open>();
  #isTelling = false;
  #inTurn = 0;

  constructor(input: RunInput, gate: Gate) {
    this.#input = input;
    this.#gate = gate;
  }

  /** Workflow ids of the runs above this one, the root first. */
  get lineage(): string[] {
    return this.#input.parent?.lineage ?? [];
  }

  newTurn(): void {
    this.#inTurn = 0;
    // A stop cancels only the runs of its turn.
    if (this.#scope.consideredCancelled) this.#scope = new CancellationScope();
  }

  /** Why one more call of an agent cannot start a run; undefined if it can. Counts the call. */
  problem(callId: string): string | undefined {
    const { workflowId } = workflowInfo();
    return nestingProblem({
      depth: this.lineage.length,
      before: this.#inTurn++,
      workflowId: nestedRunId(workflowId, callId),
    });
  }

  /** Runs one admitted call with the policies that are active now; later changes are sent to it. */
  run({ callId, args }: ToolCall, agent: string, resultBytes: number): Promise<ToolEnd> {
    const { workflowId } = workflowInfo();
    const { caller, metadata } = this.#input;
    const knows = this.#gate.policies;
    const input = {
      agent,
      input: args['input'] as string,
      caller,
      metadata,
      parent: { lineage: [...this.lineage, workflowId], policies: bindingPolicies(knows) },
    };
    const nested = { workflowId: nestedRunId(workflowId, callId), input, resultBytes };
    const open: Open = { scope: new CancellationScope({ cancellable: true, parent: this.#scope }), knows };
    this.#open.add(open);
    if (!this.#isTelling) void this.#keepTelling();
    return open.scope.run(async () => {
      try {
        const onStarted: NestedRun['onStarted'] = (run) => (open.run = run);
        return await runNested({ ...nested, journal: this.#gate.takeJournal(), onStarted });
      } finally {
        this.#open.delete(open);
      }
    });
  }

  /** Sends a change to every open nested run whenever the policies that bind this run have changed (I10). */
  async #keepTelling(): Promise<void> {
    this.#isTelling = true;
    try {
      for (;;) {
        await this.#gate.until(() => this.#untold.length > 0);
        const policies = bindingPolicies(this.#gate.policies);
        const bytes = byteLength(JSON.stringify(policies));
        const atOnce = Math.max(1, Math.floor(maxToldBytes / bytes));
        await Promise.all(this.#untold.slice(0, atOnce).map((each) => this.#tell(each, policies, bytes)));
      }
    } catch {
      // This run is cancelled, and its nested runs with it.
      this.#isTelling = false;
    }
  }

  get #untold(): Open[] {
    return [...this.#open].filter(({ run, knows }) => run !== undefined && knows !== this.#gate.policies);
  }

  /** A nested run that cannot be told would continue under its old policies, so it is cancelled if it has not ended. */
  async #tell(open: Open, policies: Policy[], bytes: number): Promise<void> {
    open.knows = this.#gate.policies;
    try {
      if (bytes > maxInheritedBytes) throw new Error('more than a nested run takes');
      await open.run!.signal(parentsChangedName, { policies });
    } catch {
      if (this.#open.has(open)) open.scope.cancel();
    }
  }

  /** Cancels the open nested runs. A closed run waits for them only until they are cancelled. */
  cancel(): void {
    this.#scope.cancel();
  }

  /** Lists the nested runs of these running calls. */
  listed(running: { callId: string; agent: string }[]): Pick<RunStatus, 'nested'> {
    const { workflowId } = workflowInfo();
    if (running.length === 0) return {};
    return { nested: running.map((each) => ({ ...each, workflowId: nestedRunId(workflowId, each.callId) })) };
  }
}
