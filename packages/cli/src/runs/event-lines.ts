import {
  escapeJson,
  escapeText,
  instantText,
  shownPerson,
  terminalClock,
  toldText,
  unfinishedText,
} from 'countersign/base';
import type {
  ApprovalDecision,
  ApprovalRequestEvent,
  ApprovalResultEvent,
  CountersignClient,
  RawResponseEvent,
  RecordedEvent,
  RunCompleteEvent,
  RunEvent,
  RunItem,
} from 'countersign/client';
import { escapedCommand } from '../inbox/approval-views.ts';
import { type ClientFlags, nextCommand } from '../base/command-line.ts';
import { truncate } from '../base/fit-text.ts';
import { type Output, type Style, escapeLines } from '../base/output.ts';
import { editedText, editOf } from './edits.ts';

/**
 * Prints events: a line or more for people, one JSON value each for programs. The client is asked what an edit changed.
 */
export function eventPrinter(
  output: Output,
  options: ClientFlags,
  client?: CountersignClient,
): (event: RunEvent) => Promise<void> {
  if (!output.forPeople) return async (event) => output.json(event);
  /** The model's text on the screen; undefined if the screen is at the start of a line. */
  let streamed: string | undefined;
  return async (event) => {
    if (event.type === 'RawResponseEvent') {
      streamed = stream(output, event, streamed);
      return;
    }
    const message = event.type === 'RunItemEvent' && event.item.type === 'message' ? event.item : undefined;
    const isShown = message !== undefined && message.content === streamed;
    if (streamed !== undefined) output.write('\n');
    streamed = undefined;
    const isAnswer = event.type === 'ApprovalResultEvent' && client !== undefined;
    const edit = isAnswer ? await editOf(client, event) : undefined;
    if (!isShown) output.line(renderEvent(output, event, options, edit));
    else if (message.outputProblem !== undefined) output.line(askedAgain(output, message.outputProblem));
  };
}

/** Writes a part of the model's answer, and returns the part of it that is on the screen. */
function stream(output: Output, { delta, offset, hidden }: RawResponseEvent, shown: string | undefined): string {
  const isNew = shown === undefined || offset < shown.length;
  if (shown !== undefined && isNew) output.line(`\n${output.style('dim', 'the model starts over')}`);
  if (isNew) output.write(label(output, 'model', 'bold'));
  if (hidden !== undefined) output.write(output.style('dim', `(${hidden} characters before this are not shown) `));
  output.write(escapeLines(delta));
  // Text that is not on the screen must not count as shown.
  const before = isNew ? '' : shown;
  return hidden === undefined ? before + delta : `${before}\u0000${delta}`;
}

const labelWidth = 10;

function label(output: Output, text: string, style: Style): string {
  return output.style(style, text.padEnd(labelWidth));
}

/**
 * One event for people. Text from the run is escaped, and cut at the width of the terminal. `edit`: what the reviewer
 * changed in the call.
 */
export function renderEvent(output: Output, event: RecordedEvent, options: ClientFlags, edit?: string): string {
  switch (event.type) {
    case 'RunItemEvent':
      return renderItem(output, event.item, options);
    case 'ApprovalRequestEvent':
      return renderRequest(output, event, options);
    case 'ApprovalResultEvent':
      return renderDecision(output, event, edit);
    case 'RunCompleteEvent':
      return renderEnd(output, event);
    case 'gap':
      return line(output, label(output, 'gap', 'red'), event.message);
  }
}

/** An item of a run as lines for people. */
function renderItem(output: Output, item: RunItem, options: ClientFlags): string {
  switch (item.type) {
    case 'message': {
      const text = `${label(output, item.role === 'user' ? 'user' : 'model', 'bold')}${withFinish(output, toldText(item.content, item.files ?? []), item.finish)}`;
      return item.outputProblem === undefined ? text : `${text}\n${askedAgain(output, item.outputProblem)}`;
    }
    case 'tool_call': {
      const args = item.arguments === undefined ? '' : ` ${escapeJson(item.arguments)}`;
      return `${label(output, 'call', 'bold')}${cut(output, `${escapeText(`${item.callId} ${item.toolName}`)}${args}`)}`;
    }
    case 'tool_result': {
      const { callId, toolName, content, resultOf } = item;
      if (resultOf !== undefined) {
        return line(output, label(output, 'cached', 'green'), `${callId} ${toolName}, as ${resultOf}: ${content}`);
      }
      const how =
        item.withheld === true
          ? label(output, 'withheld', 'yellow')
          : label(output, item.isError ? 'error' : 'result', item.isError ? 'red' : 'green');
      return line(output, how, `${callId} ${toolName}: ${content}`);
    }
    case 'nested_run': {
      const watch = nextCommand(options, 'watch', escapeText(item.workflowId));
      return `${label(output, 'nested', 'bold')}${escapeText(item.callId)}: ${watch}`;
    }
    case 'handoff':
      return line(output, label(output, 'handoff', 'bold'), `${item.from} hands the run over to ${item.to}`);
    case 'turn_ended': {
      if (item.failure === undefined) {
        return `${label(output, item.stopped ? 'stopped' : 'ended', 'bold')}turn ${item.turn}`;
      }
      return line(output, label(output, 'failed', 'red'), `turn ${item.turn}: ${item.failure.message}`);
    }
  }
}

function renderRequest(output: Output, event: ApprovalRequestEvent, options: ClientFlags): string {
  const { requestId, callId, toolName, reason, deadline, workflowId } = event;
  const until = deadline === null ? '' : ` (until ${instantText(deadline, terminalClock())})`;
  const asked = line(output, label(output, 'asks', 'yellow'), `${callId} ${toolName}: ${reason}${until}`);
  return `${asked}\n${' '.repeat(labelWidth)}${escapedCommand(options, 'approve', requestId, workflowId)}`;
}

const yes: readonly ApprovalDecision[] = ['approved', 'approved_always'];

function renderDecision(output: Output, event: ApprovalResultEvent, edit?: string): string {
  const { decision, callId, toolName, reviewerId, reviewerName, reason } = event;
  const who = reviewerId === null ? '' : ` by ${shownPerson(reviewerId, reviewerName)}`;
  const why = reason === null ? '' : `: ${reason}`;
  const style = yes.includes(decision) ? 'green' : 'red';
  const what = edit === undefined ? decision.replace('_', ' ') : editedText(edit);
  return line(output, label(output, 'decided', style), `${callId} ${toolName} ${what}${who}${why}`);
}

function renderEnd(output: Output, { status, output: text, finish, failure }: RunCompleteEvent): string {
  const style = status === 'completed' ? 'green' : 'red';
  const message = failure === undefined ? text : failure.message;
  return `${label(output, status, style)}${withFinish(output, message, finish)}`;
}

/** Why a final answer does not count. */
function askedAgain(output: Output, problem: string): string {
  return output.style('yellow', `(asked again: ${escapeText(problem)})`);
}

/** A text of the model, and whether it may be incomplete. */
export function withFinish(output: Output, text: string, finish: RunCompleteEvent['finish']): string {
  const note = finish === undefined ? '' : `\n${output.style('yellow', `(${unfinishedText(finish)})`)}`;
  return `${escapeLines(text)}${note}`;
}

function line(output: Output, head: string, text: string): string {
  return `${head}${cut(output, escapeText(text))}`;
}

/** JSON has the whole text. */
function cut(output: Output, text: string): string {
  return truncate(text, output.width - labelWidth);
}
