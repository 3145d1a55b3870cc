import { DefaultLogger, type LogLevel } from '@temporalio/worker';
import { LineTerminal } from 'countersign/adapter';
import { escapeJson } from 'countersign/base';
import { waitingMessage, type WaitingNotice } from 'countersign/card';
import { renderWaiting } from '../inbox/approval-views.ts';
import type { CommonOptions } from '../base/command-line.ts';
import type { Output } from '../base/output.ts';

const severities: readonly LogLevel[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'];

/** Returns the notice with its own fields only, because Temporal's logger adds others to every line. */
function withoutLogFields(notice: WaitingNotice & { workflowId: string }) {
  const { requestId, workflowId, toolName, argumentNames, agentName, riskLevel } = notice;
  const { severity, reason, deadline, reviewers, channels } = notice;
  const call = { toolName, argumentNames, agentName, riskLevel, severity };
  return { requestId, workflowId, ...call, reason, deadline, reviewers, ...(channels !== undefined && { channels }) };
}

/** The log of a worker on standard error. Shows new requests as text for people, or as JSON. */
export class WorkerLog extends DefaultLogger {
  readonly #output: Output;
  readonly #options: CommonOptions;

  constructor(output: Output, options: CommonOptions, level: LogLevel = 'WARN') {
    super(level);
    this.#output = output;
    this.#options = options;
  }

  /** Writes a line above a question that waits on the terminal. Shows new requests, whatever the level. */
  override log(level: LogLevel, message: string, fields?: Record<string | symbol, unknown>): void {
    if (message !== waitingMessage) {
      if (severities.indexOf(level) >= severities.indexOf(this.level)) {
        LineTerminal.logBeside(() => super.log(level, message, fields));
      }
      return;
    }
    LineTerminal.logBeside(() => this.#logWaiting(fields));
  }

  #logWaiting(fields?: Record<string | symbol, unknown>): void {
    const notice = fields as unknown as WaitingNotice & { workflowId: string };
    if (this.#output.forPeople) this.#output.note(renderWaiting(this.#output, notice, this.#options));
    else this.#output.note(escapeJson({ change: 'appeared', ...withoutLogFields(notice) }));
  }
}
