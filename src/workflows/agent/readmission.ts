/** Prepares calls that pass the gate again, after a change of the tool (I8), an unknown outcome (I7), or advice. */
import type { ChangedDefinition } from '../../activities/call-tool.ts';
import type { CheckedArguments } from '../../activities/check-edit.ts';
import type { ModelCall } from '../../activities/model-turn.ts';
import type { ApprovalRequest, Message } from '../../contract.ts';
import { definitionChange } from '../../core/policy/definition-change.ts';
import { shortened } from '../../core/base/text.ts';
import type { Redaction } from '../../core/redact/redaction.ts';
import type { AgentConfig } from '../../core/policy/run-config.ts';
import type { Consultation } from '../gate/consult-advisors.ts';
import type { ToolDefinition } from '../../core/base/tool-call.ts';
import { type StartableCall, type HeldCall, type RunState, agentOf } from './run-state.ts';

/** How many replaced definitions a run keeps, to show reviewers what has changed in a tool. */
const formerKept = 10;

/** The earlier request of a call that passes the gate again. */
interface AskedBefore {
  requestId: string;
  redaction: Redaction | undefined;
}

/**
 * Makes the call `former`, whose tool or preview has changed, pass the gate again, as if the model made it now. The
 * call gets a new id, unless it may have run: then it keeps its id, which its idempotency key contains. `admitted` is
 * the tool as the gate admitted it, and `asked` the earlier request about the call, if there is one.
 */
export function heldAgain(
  former: StartableCall,
  admitted: ToolDefinition,
  { definition, checked = { args: former.call.args }, changes: previewChanges }: ChangedDefinition,
  asked: AskedBefore | undefined,
  messages: readonly Message[],
): HeldCall {
  const { modelCallId, tool, unknownStarts, mayHaveRun, call } = former;
  const isPreview = previewChanges !== undefined;
  const changes = (former.changes ?? 0) + 1;
  // A changed preview leaves the arguments as they were, so what their first request redacted stays so.
  const requested: ModelCall =
    'problem' in checked
      ? { id: modelCallId, tool, raw: call.args, problem: `Error: ${checked.problem}` }
      : { id: modelCallId, tool, ...checked, ...(isPreview && { redaction: asked?.redaction }) };
  const changed = isPreview ? 'preview' : 'definition';
  const about = isPreview ? '' : `${definitionChange(admitted, definition)} `;
  const shownChanges = previewChanges?.filter(isText).slice(0, mostChanges).map(bounded);
  return hold(
    former,
    { changes, unknownStarts, mayHaveRun },
    {
      requested,
      callId: mayHaveRun ? call.callId : `${firstIdOf(call.callId)}.${changes + 1}`,
      contextSummary: `${about}${summaryOf(messages)}`,
      again: true,
      replaces: replacedBy(mayHaveRun ? 'unknown' : changed, asked, shownChanges),
    },
  );
}

/** Returns the id `TURN.CALL` of a call, without the number that each change of its tool appends. */
function firstIdOf(callId: string): string {
  return callId.split('.', 2).join('.');
}

/** Makes a call that may have run pass the gate again. `Partial<CheckedArguments>` is what reviewers see of it. */
export function heldAsUnknown(
  former: StartableCall,
  { shell, sentence, assessment, redaction, cannotStart }: Partial<CheckedArguments>,
  asked: AskedBefore | undefined,
  messages: readonly Message[],
): HeldCall {
  const { modelCallId, tool, changes } = former;
  const { callId, args } = former.call;
  const unknownStarts = (former.unknownStarts ?? 0) + 1;
  const seen = { shell, sentence, assessment, redaction: redaction ?? asked?.redaction, cannotStart };
  return hold(
    former,
    { changes, unknownStarts, mayHaveRun: true },
    {
      requested: { id: modelCallId, tool, args, ...seen },
      callId,
      contextSummary: summaryOf(messages),
      again: true,
      replaces: replacedBy('unknown', asked),
    },
  );
}

function hold(
  { modelCallId, tool, written, notice }: StartableCall,
  before: Pick<HeldCall, 'changes' | 'unknownStarts' | 'mayHaveRun'>,
  again: HeldCall['held'],
): HeldCall {
  return { modelCallId, tool, written, notice, ...before, state: 'held', held: again };
}

/** Tells reviewers why the call passes the gate again. Undefined without an earlier request, unless it may have run. */
function replacedBy(
  by: NonNullable<ApprovalRequest['replaces']>['by'],
  asked: AskedBefore | undefined,
  changes?: string[],
): ApprovalRequest['replaces'] {
  if (asked === undefined && by !== 'unknown') return undefined;
  return { ...(asked && { requestId: asked.requestId }), by, ...(changes && { changes }) };
}

// A client can forge the failure that lists the changes of a preview, so show only a few texts of limited length.

const mostChanges = 20;
const longestChange = 1_000;

function isText(change: unknown): change is string {
  return typeof change === 'string' && change.isWellFormed();
}

function bounded(change: string): string {
  return shortened(change, longestChange);
}

export function heldForAdvice(
  call: Omit<HeldCall, 'state' | 'held'>,
  held: HeldCall['held'],
  consultation: Consultation,
): HeldCall {
  return { ...call, state: 'held', held: { ...held, consultation } };
}

/** True for a call that passes the gate now: it waits neither for its advisors nor for earlier calls of its turn. */
export function passesAtOnce({ held: { again, advice, consultation } }: HeldCall): boolean {
  return consultation === undefined && (again === true || advice !== undefined);
}

/** Records a tool's present definition for every agent of the run. Keeps the former one for calls that it admitted. */
export function takeDefinition(state: RunState, admitted: ToolDefinition, changed: ToolDefinition): void {
  const renew = <Config extends AgentConfig>(config: Config): Config => ({
    ...config,
    tools: config.tools.map((tool) => (tool.name === changed.name ? changed : tool)),
  });
  const { handoffs } = state.config;
  state.config = { ...renew(state.config), handoffs: handoffs?.map(renew) };
  const others = (state.former ?? []).filter(({ definition }) => definition !== admitted.definition);
  state.former = [...others, admitted].slice(-formerKept);
}

/** Returns the tool with the admitted definition (I8); the present tool if the run no longer keeps that definition. */
export function admittedTool(state: RunState, { tool: name, admitted }: StartableCall): ToolDefinition | undefined {
  const present = agentOf(state).tools.find((tool) => tool.name === name);
  if (admitted === undefined || present?.definition === admitted) return present;
  return state.former?.find((tool) => tool.name === name && tool.definition === admitted) ?? present;
}

/** Returns the text for reviewers, as in the call's first request: the last text of the model or the user. */
function summaryOf(messages: readonly Message[]): string {
  return messages.findLast(({ role, content }) => role !== 'tool' && content.trim() !== '')?.content ?? '';
}
