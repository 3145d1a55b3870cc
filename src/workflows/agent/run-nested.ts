import { WorkflowExecutionAlreadyStartedError, type Workflow } from '@temporalio/common';
import {
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  type ChildWorkflowHandle,
  ParentClosePolicy,
  startChild,
} from '@temporalio/workflow';
import { type RunInput, type RunResult, workflowType } from '../../contract.ts';
import { byteLength, escapeText } from '../../core/base/text.ts';
import type { JournalEntry } from '../../core/ledger/journal-entry.ts';
import { maxInheritedBytes } from '../../core/policy/nesting.ts';
import { sentences } from '../../core/ledger/sentences.ts';
import { totalUsage, isUnfinished, unfinishedText } from '../../core/base/model-answer.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import type { ToolEnd } from './run-tool.ts';

export interface NestedRun {
  workflowId: string;
  input: RunInput;
  /** The maximum size of its answer, in bytes. */
  resultBytes: number;
  /** Puts journal entries into this run's history; the nested run does not read them. */
  journal: JournalEntry[];
  /** Called once the run has started and can receive signals. */
  onStarted: (run: Pick<ChildWorkflowHandle<Workflow>, 'signal'>) => void;
}

/**
 * Runs one admitted call of an agent as a separate run. No activity waits meanwhile, so it may take days. Never throws:
 * every way in which the run can end is an answer to the calling model. When this run is cancelled or closed, the
 * nested run is cancelled.
 */
export async function runNested({ workflowId, input, resultBytes, journal, onStarted }: NestedRun): Promise<ToolEnd> {
  const { agent, parent } = input;
  const bytes = byteLength(JSON.stringify(parent));
  if (bytes > maxInheritedBytes) {
    return notStarted(`the policies that bind agent '${agent}' have ${bytes} bytes; at most ${maxInheritedBytes}`);
  }
  const shownAgent = escapeText(agent).slice(0, 100);
  try {
    const run = await startChild<(input: RunInput, carrier: object) => Promise<RunResult>>(workflowType, {
      workflowId,
      args: [input, { journal }],
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      staticSummary: `Agent ${shownAgent}, called by another run`,
      staticDetails: `Agent \`${shownAgent}\`, called by run \`${escapeText(parent?.lineage.at(-1) ?? '')}\`. Look at it with \`countersign show ${escapeText(workflowId)}\`.`,
    });
    onStarted(run);
    return answerOf(agent, await run.result(), resultBytes);
  } catch (error) {
    return endOf(agent, error);
  }
}

function answerOf(agent: string, result: unknown, resultBytes: number): ToolEnd {
  if (isUndecodable(result)) return unknown;
  const ended = (result ?? {}) as Partial<RunResult>;
  return {
    ...answerTo(agent, ended, resultBytes),
    usage: totalUsage(ended.usage, ended.nestedUsage),
    cost: ended.cost,
  };
}

function answerTo(agent: string, { status, output, finish }: Partial<RunResult>, resultBytes: number): ToolEnd {
  if (typeof output !== 'string') return unknown;
  if (byteLength(output) > resultBytes) return failed(agent, `its answer has more than ${resultBytes} bytes`);
  if (status === 'closed') return closed(agent, output);
  if (status === 'limit') return failed(agent, output);
  const content = !isUnfinished(finish) ? output : `${output}\n(${unfinishedText(finish)})`;
  return { content, isError: false, ran: 'yes' };
}

/** Includes the run's last output: it may be all that the run found out. */
function closed(agent: string, output: string): ToolEnd {
  const content = sentences.cancelled(`the run of agent '${agent}' was closed`);
  return { content: output === '' ? content : `${content}\n${output}`, isError: true, ran: 'yes' };
}

const unknown: ToolEnd = { content: sentences.unknownOutcome, isError: true, ran: 'unknown' };

/** Failures of a run before its agent has done anything. */
const neverBegan = ['agent_unknown', 'arguments_invalid', 'policy_invalid', 'too_large'];

function endOf(agent: string, error: unknown): ToolEnd {
  if (error instanceof WorkflowExecutionAlreadyStartedError) {
    return notStarted(`there is a run '${error.workflowId}' already`);
  }
  const cause = error instanceof ChildWorkflowFailure ? error.cause : error;
  if (cause instanceof CancelledFailure) {
    // Its own journal says what it had done by then.
    const ran = error === cause ? 'no' : 'unknown';
    return { content: sentences.cancelled(`the run of agent '${agent}' was cancelled`), isError: true, ran };
  }
  if (!(cause instanceof ApplicationFailure)) return unknown;
  return neverBegan.includes(cause.type ?? '') ? notStarted(cause.message) : failed(agent, cause.message);
}

function failed(agent: string, why: string): ToolEnd {
  return { content: sentences.failed(`agent '${agent}': ${why}`), isError: true, ran: 'yes' };
}

function notStarted(why: string): ToolEnd {
  return { content: sentences.failed(why), isError: true, ran: 'no' };
}
