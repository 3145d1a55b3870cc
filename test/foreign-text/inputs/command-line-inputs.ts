import { renderChanges } from '../../../packages/cli/src/answers/decide.ts';
import { nextCommand } from '../../../packages/cli/src/base/command-line.ts';
import { pad, truncate, wrap } from '../../../packages/cli/src/base/fit-text.ts';
import { escapeLines, printMarked, reportError } from '../../../packages/cli/src/base/output.ts';
import { readJsonOption, readJsonOrFile } from '../../../packages/cli/src/base/read-text.ts';
import { shortIds } from '../../../packages/cli/src/base/request-id.ts';
import { renderFields, renderTable } from '../../../packages/cli/src/base/table.ts';
import { loadFault } from '../../../packages/cli/src/dev/worker-message.ts';
import { reasonOf } from '../../../packages/cli/src/dev-server/pinned-temporal.ts';
import { escapedCommand, leftOf, renderWaiting } from '../../../packages/cli/src/inbox/approval-views.ts';
import { renderCard } from '../../../packages/cli/src/inbox/card-view.ts';
import { previewRequest } from '../../../packages/cli/src/inbox/preview.ts';
import { parseSubject, parseSums } from '../../../packages/cli/src/policy/described-call.ts';
import { readCase } from '../../../packages/cli/src/policy/policy-eval.ts';
import { problemLine, problemLines, writtenMembers } from '../../../packages/cli/src/policy/policy-file.ts';
import { shortRunIds } from '../../../packages/cli/src/base/named-run.ts';
import { searchOf } from '../../../packages/cli/src/review/ask-answer.ts';
import { editedText, renderEvent, withFinish, renderRun } from '../../../packages/cli/src/runs/run-views.ts';
import type { RunView } from '../../../src/client/inbox/show-run.ts';
import type { RecordedEvent } from '../../../src/events/run-event.ts';
import { terminal } from '../../adapters/cli/support.ts';
import { cardRequest, nowMs } from '../../card/sample-requests.ts';
import { almostWithin, documents, escapable, type Inputs, objects, pieces, type Run } from './input.ts';
import { readFault } from '../../../src/text/read-fault.ts';

/** How wide a character is on a terminal is looked up: an emoji takes as long as many letters. */
const placesOfWidths = 30;
const widths = [80, Infinity];
const outputs = widths.map((width) => ({ ...terminal(), width }));
/** At a terminal, and where the output has no width. */
const atEach = (run: (output: (typeof outputs)[number], text: string) => unknown): Run[] =>
  outputs.map((output) => (text) => run(output, text));
const problems: readonly ((text: string) => Error)[] = [
  (text) => new Error(text),
  (text) => new Error('a', { cause: Object.assign(new Error(text), { stack: text }) }),
  (text) =>
    new Error('a', { cause: Object.assign(new Error(text), { stack: `Error\n    at ${text} (/${text}:1:1)` }) }),
];
const thrown = (run: (error: Error) => unknown): Run[] => problems.map((problem) => (text) => run(problem(text)));
/** Takes what a command writes, and drops it. */
const unheard = (run: () => unknown): unknown => {
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = () => true;
  try {
    return run();
  } finally {
    process.stderr.write = write;
  }
};
const row = (text: string) => ({
  ...cardRequest(),
  requestId: text,
  toolName: text,
  reason: text,
  argumentNames: [text],
});
const decided = (text: string): RecordedEvent => ({
  type: 'ApprovalResultEvent',
  id: 'a.1.0',
  workflowId: text,
  at: '2026-01-02T03:04:05.000Z',
  requestId: text,
  callId: text,
  toolName: text,
  decision: 'approved',
  reason: text,
  reviewerId: text,
  ran: 'pending',
});
const runOf = (text: string): RunView => ({
  workflowId: text,
  workflowType: text,
  status: 'running',
  taskQueue: text,
  startedAt: text,
  open: [],
  more: 0,
  outcomes: [{ callId: text, toolName: text, requestId: text, outcome: 'approved', ran: 'yes' }],
  note: text,
});
/** One text in a column, and a row for each of its pieces. */
const table = (output: (typeof outputs)[number], text: string) =>
  renderTable(output, ['ONE', 'TWO'], [[text, 'a'], ...pieces(text).map((piece) => [piece, piece])], {
    wrapped: ['TWO'],
  });

export const commandLineInputs: Inputs = {
  'packages/cli/src/answers/decide.ts renderChanges': {
    places: 12,
    runs: objects((args) => renderChanges(outputs[0]!, args, { ...args, to: 1 })),
  },
  'packages/cli/src/base/command-line.ts nextCommand': (text) => nextCommand({ config: text }, 'approve', text),
  'packages/cli/src/base/fit-text.ts truncate': {
    places: placesOfWidths,
    runs: widths.map(
      (width): Run =>
        (text) =>
          truncate(text, width),
    ),
  },
  'packages/cli/src/base/fit-text.ts wrap': {
    places: placesOfWidths,
    runs: widths.map(
      (width): Run =>
        (text) =>
          wrap(text, width),
    ),
  },
  'packages/cli/src/base/fit-text.ts pad': { places: placesOfWidths, runs: [(text) => pad(text, 80)] },
  'packages/cli/src/base/output.ts escapeLines': { places: 3, runs: [escapeLines] },
  'packages/cli/src/base/output.ts printMarked': (text) => printMarked(terminal(), true, text, {}),
  'text/read-fault.ts readFault': (text) => readFault(Object.assign(new Error(text), { code: text })),
  'packages/cli/src/base/read-text.ts readJsonOption': documents((text) => readJsonOption('--args', text)),
  'packages/cli/src/base/read-text.ts readJsonOrFile': documents((text) =>
    readJsonOrFile('--args', text.startsWith('@') ? '{}' : text),
  ),
  'packages/cli/src/base/output.ts reportError': {
    places: 3,
    runs: [true, false].flatMap((json) => thrown((error) => unheard(() => reportError(error, { json, debug: true })))),
  },
  'packages/cli/src/base/request-id.ts shortIds': [
    (text) => shortIds([text, `${text}!`])(text),
    (text) => shortIds([`${almostWithin(text)}a`, `${almostWithin(text)}b`, ...pieces(text)])(text),
  ],
  'packages/cli/src/base/named-run.ts shortRunIds': (text) => shortRunIds([text, `${text}!`])(text),
  'packages/cli/src/base/table.ts renderTable': { places: 3 * placesOfWidths, runs: atEach(table) },
  'packages/cli/src/base/table.ts renderFields': {
    places: 2 * placesOfWidths,
    runs: atEach((output, text) =>
      renderFields(output, [
        [text.slice(0, 100), text],
        ['a', text.replaceAll(' ', '\n')],
      ]),
    ),
  },
  'packages/cli/src/dev/worker-message.ts loadFault': thrown(loadFault),
  'packages/cli/src/dev-server/pinned-temporal.ts reasonOf': thrown(reasonOf),
  'packages/cli/src/inbox/approval-views.ts renderWaiting': {
    places: 2 * placesOfWidths,
    runs: atEach((output, text) => renderWaiting(output, row(text), {})),
  },
  'packages/cli/src/inbox/approval-views.ts escapedCommand': {
    places: 3,
    runs: [(text) => escapedCommand({}, 'approve', text, text)],
  },
  'packages/cli/src/inbox/approval-views.ts leftOf': (text) => leftOf(text, nowMs),
  'packages/cli/src/inbox/card-view.ts renderCard': {
    places: 3 * placesOfWidths,
    runs: [
      ...objects((args) => renderCard(outputs[0]!, cardRequest({ arguments: args }), {}, { nowMs })),
      (text) => renderCard(outputs[0]!, cardRequest({ sentence: text, toolName: text }), {}, { nowMs, all: true }),
    ],
  },
  'packages/cli/src/inbox/preview.ts previewRequest': {
    places: 12,
    runs: [
      ...documents((text) => previewRequest(text, nowMs)),
      ...documents((text) => previewRequest(`{"tool":"pay","args":${text}}`, nowMs)),
      (text) =>
        previewRequest(JSON.stringify({ tool: text, args: {}, risk: text, subject: text, sentence: text }), nowMs),
    ],
  },
  'packages/cli/src/policy/described-call.ts parseSubject': (text) =>
    parseSubject({ argument: text, shell: true, beside: pieces(text) }),
  'packages/cli/src/policy/described-call.ts parseSums': [
    (text) => parseSums({ [text]: Object.fromEntries(pieces(text).map((piece) => [piece, 1])) }),
    ...objects(parseSums),
  ],
  'packages/cli/src/policy/policy-eval.ts readCase': [
    ...documents(readCase),
    ...documents((text) => readCase(`{"tool":"pay","args":${text}}`)),
    (text) => readCase(JSON.stringify({ id: escapable(text), tool: escapable(text), args: {} })),
  ],
  'packages/cli/src/policy/policy-file.ts problemLine': { places: 3, runs: [(text) => problemLine(text, {}, text)] },
  'packages/cli/src/policy/policy-file.ts problemLines': {
    places: 3,
    runs: [
      (text) =>
        problemLines(
          'a',
          pieces(text).map((message) => ({ message, path: '' })),
        ),
    ],
  },
  'packages/cli/src/policy/policy-file.ts writtenMembers': documents((text) => {
    // Its caller has parsed the text.
    if (isJson(text)) writtenMembers(text);
  }),
  'packages/cli/src/review/ask-answer.ts searchOf': searchOf,
  'packages/cli/src/runs/run-views.ts editedText': editedText,
  'packages/cli/src/runs/run-views.ts renderEvent': {
    places: 2 * placesOfWidths,
    runs: atEach((output, text) => renderEvent(output, decided(text), {}, text)),
  },
  'packages/cli/src/runs/run-views.ts renderRun': {
    places: 4 * placesOfWidths,
    runs: atEach((output, text) => renderRun(output, runOf(text), nowMs, new Map([[text, text]]))),
  },
  'packages/cli/src/runs/run-views.ts withFinish': {
    places: 3,
    runs: [(text) => withFinish(outputs[0]!, text, text as never)],
  },
};

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
