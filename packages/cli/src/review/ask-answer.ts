import { escapeText, parseDuration, type JsonObject, escapeJson, isObject, isProblemError } from 'countersign/base';
import { cardOf, chosenScope, consoleLineHelp, noAlways, readConsoleLine, type Card } from 'countersign/card';
import type { ApprovalDetails, ApprovalSummary, Decision, RecordedEvent } from 'countersign/client';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readJson } from 'countersign/json';
import { renderChanges } from '../answers/decide.ts';
import type { Output } from '../base/output.ts';
import { cardText, rowFacts } from '../inbox/card-view.ts';
import { askScope } from './ask-scope.ts';
import type { Context, Questions } from './questions.ts';
import { renderEvent } from '../runs/run-views.ts';

export interface ShownRequest {
  row: ApprovalSummary;
  /** The request; undefined if its run does not answer, and then only the row is shown. */
  request: ApprovalDetails | undefined;
  card?: Card;
  /** True if nothing on the card is cut, and the raw call follows. */
  all: boolean;
  shownAtMs: number;
  /** The reviewer's comment for the model, sent with an approval. */
  comment?: string;
}

export type ReviewAnswer = Pick<Decision, 'approved' | 'always' | 'reason' | 'response' | 'modifiedArguments'>;

/** Prints the card, or without a worker the row. Keeps the card in `shown`, because the decision records its digest. */
export function printRequest(print: Questions['print'], output: Output, shown: ShownRequest): void {
  const { row, request, all } = shown;
  const nowMs = Date.now();
  if (request === undefined) return print(rowFacts(output, row, nowMs));
  shown.card = cardOf(request, { nowMs, all, always: chosenScope(request.always) });
  print(cardText(output, shown.card, { nowMs, all, seeAll: 'v shows it' }));
}

const choices = {
  edit: 'e',
  comment: 'c',
  respond: 'r',
  extend: 'x',
  delegate: 'h',
  view: 'v',
  context: 'w',
  back: 'b',
  quit: 'q',
  help: '?',
} as const;
type Choice = keyof typeof choices;

const help = `a  approve: the call runs as shown
A  always: approve, and choose which later calls of this run are approved too
d  deny: the call does not run; you may give a reason
e  edit: approve other arguments, in your editor; you see the difference first
c  comment: write what the model reads before the tool's result; a, A and e send it
r  respond: you answer in the tool's place
x  extend: give the request more time
h  hand over: another person decides in your place
v  view everything: the raw call, and what is cut
w  what happened before: the run's messages, calls and decisions so far
/  search: /text shows only requests with this text, / all again
s  skip: leave it open, and look at the next one
b  see what you skipped again
q  quit; Ctrl-C and Ctrl-D, too. What is not answered stays open`;

type OtherAnswer = { untilMs: number } | { to: string } | Search | 'skip' | 'back' | 'quit';

/** A search: only requests with this text are shown. An empty text shows all. */
export interface Search {
  search: string;
}

/** Returns the search in a line such as `/refund`; undefined for any other line. */
export function searchOf(line: string): Search | undefined {
  const text = line.trim();
  return text.startsWith('/') ? { search: text.slice(1).trim() } : undefined;
}

/** Asks for the answer to a request. Asks again after a key that shows more or takes a comment. */
export async function askAnswer(context: Context, shown: ShownRequest): Promise<ReviewAnswer | OtherAnswer> {
  const { questions, output } = context;
  const { print } = questions;
  for (;;) {
    const line = await questions.answer(`\n${questionOf(shown)}`);
    const search = searchOf(line);
    if (search !== undefined) return search;
    const choice = readConsoleLine(line) ?? choiceOf(line.trim());
    switch (choice) {
      case 'approve':
      case 'always':
      case 'edit': {
        const problem = whyNotApprove(choice, shown);
        if (problem !== undefined) {
          print(problem);
          break;
        }
        const answer = choice === 'approve' ? { approved: true } : await askMore(context, choice, shown.request!);
        if (answer === undefined) break;
        return shown.comment === undefined ? answer : { ...answer, reason: shown.comment };
      }
      case 'deny': {
        const reason = await questions.text('Reason, which the model reads (Enter: none; . goes back): ');
        if (reason === undefined) break;
        return { approved: false, ...(reason.trim() !== '' && { reason: reason.trim() }) };
      }
      case 'comment': {
        const comment = await questions.text('Comment, which the model reads before the result (. goes back): ');
        if (comment === undefined) break;
        shown.comment = comment.trim() || undefined;
        break;
      }
      case 'respond': {
        const response = await questions.text("Answer in the tool's place (. goes back): ");
        if (response === undefined) break;
        if (response.trim() !== '') return { approved: false, response };
        print("Write what the model gets instead of the tool's result.");
        break;
      }
      case 'extend': {
        const untilMs = await askDeadline(questions, (shown.request ?? shown.row).deadline);
        if (untilMs !== undefined) return { untilMs };
        break;
      }
      case 'delegate': {
        const to = await questions.text('Who decides in your place (. goes back): ');
        if (to !== undefined && to.trim() !== '') return { to: to.trim() };
        break;
      }
      case 'context':
        await printContext(context, shown.row);
        break;
      case 'view':
        shown.all = true;
        printRequest(print, output, shown);
        break;
      case 'help':
        print(help);
        break;
      case 'skip':
      case 'back':
      case 'quit':
        return choice;
      case undefined:
        print(`Not an answer: ${consoleLineHelp}; ? shows more.`);
        break;
      default:
        choice satisfies never;
    }
  }
}

function choiceOf(word: string): Choice | undefined {
  return (Object.keys(choices) as Choice[]).find((name) => word === choices[name] || word === name);
}

/** Returns the line that offers the keys for this request. */
function questionOf({ card, request, all, comment }: ShownRequest): string {
  const isAlwaysOffered = card?.answers.some(({ name }) => name === 'always') ?? false;
  const keys = [
    '[a]pprove',
    ...(isAlwaysOffered ? ['[A]lways'] : []),
    '[d]eny',
    ...(request === undefined ? [] : ['[e]dit']),
    '[c]omment [r]espond e[x]tend [h]and over',
    ...(request === undefined || all ? [] : ['[v]iew']),
    '[w]hat happened /search [s]kip [q]uit ?: ',
  ];
  return `${comment === undefined ? '' : `With your comment: ${escapeText(comment)}\n`}${keys.join(' ')}`;
}

/** Returns why the reviewer may not approve the call in this way; undefined if they may. */
function whyNotApprove(
  choice: 'approve' | 'always' | 'edit',
  { row, request, card, all }: ShownRequest,
): string | undefined {
  if ((request ?? row).shown !== 'all') {
    return 'Not all arguments are shown to you, so it cannot be approved here: deny, respond or skip.';
  }
  if (card !== undefined && !all && !card.whole) return 'Not all is on this card: v shows everything.';
  if (choice === 'approve') return undefined;
  if (request === undefined) return 'No worker answers, so only the call as it is listed can be approved.';
  if (choice === 'edit') {
    const mayHaveRun = request.replaces?.by === 'unknown';
    return mayHaveRun ? 'The call may have run with its arguments, so they cannot be edited.' : undefined;
  }
  if (request.redacted !== undefined) return 'Placeholders hide values, so "always" is not offered.';
  return request.always === undefined ? noAlways(request) : undefined;
}

/** Asks for the scope of an "always", or for the edited arguments. Undefined: the reviewer goes back. */
async function askMore(
  context: Context,
  choice: 'always' | 'edit',
  request: ApprovalDetails,
): Promise<ReviewAnswer | undefined> {
  if (choice === 'always') {
    const always = await askScope(context, request);
    return always && { approved: true, always };
  }
  const modifiedArguments = await askArguments(context, request.arguments);
  return modifiedArguments && { approved: true, modifiedArguments };
}

/** Opens the editor, again if wanted, and asks if the changes are right. Undefined if not, or without valid changes. */
async function askArguments({ questions, output }: Context, before: JsonObject): Promise<JsonObject | undefined> {
  const editor = editorCommand(process.env);
  if (editor === undefined) {
    questions.print('No editor is set: name one in $VISUAL or $EDITOR, or use `countersign edit ID --args JSON`.');
    return undefined;
  }
  let args = before;
  for (;;) {
    const edited = await openEditor(editor, args);
    if ('problem' in edited) {
      questions.print(edited.problem);
      return undefined;
    }
    args = edited.arguments;
    questions.print(renderChanges(output, before, args));
    const answer = await questions.answer('[y]es, approve with these arguments. [e]dit again. Enter goes back: ');
    const line = answer.trim();
    if (line === 'y' || line === 'yes') return args;
    if (line !== 'e') return undefined;
  }
}

/** Asks how much longer a request may wait. Returns the new deadline in milliseconds; undefined to go back. */
async function askDeadline({ print, text }: Questions, deadline: string | null): Promise<number | undefined> {
  if (deadline === null) {
    print('It has no deadline, so there is nothing to extend.');
    return undefined;
  }
  for (;;) {
    const line = await text('How much longer, such as 30m (. goes back): ');
    if (line === undefined) return undefined;
    const parsed = parseDuration(line.trim());
    if ('durationMs' in parsed && parsed.durationMs !== null) return Date.parse(deadline) + parsed.durationMs;
    print('Write a whole number and a unit, such as 30s, 5m, 1h or 1d.');
  }
}

/** Returns the command of the user's editor: $VISUAL, else $EDITOR; undefined if neither is set. */
export function editorCommand(environment: NodeJS.ProcessEnv): string | undefined {
  const { VISUAL: visual = '', EDITOR: editor = '' } = environment;
  return visual.trim() || editor.trim() || undefined;
}

/** Lets the user edit the arguments as JSON, in a file that only they can read and that is removed afterwards. */
export async function openEditor(
  command: string,
  args: JsonObject,
): Promise<{ arguments: JsonObject } | { problem: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-edit-')); // with mode 0700
  try {
    const file = join(folder, 'arguments.json');
    const before = `${escapeJson(args, 2)}\n`;
    await writeFile(file, before, { mode: 0o600, flag: 'wx' });
    const problem = await runEditor(command, file);
    if (problem !== undefined) return { problem };
    const after = await readFile(file, 'utf8').catch(() => undefined);
    if (after === undefined) return { problem: 'The editor removed the file: nothing is changed.' };
    if (after === before) return { problem: 'Nothing is changed.' };
    return readArguments(after);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs the editor by the shell, as git does, because $EDITOR may be `code --wait`. Returns the problem, if any. */
function runEditor(command: string, file: string): Promise<string | undefined> {
  const editor =
    process.platform === 'win32'
      ? spawn(`${command} "${file}"`, { stdio: 'inherit', shell: true })
      : spawn('sh', ['-c', `${command} "$@"`, command, file], { stdio: 'inherit' });
  const listeners = process.rawListeners('SIGINT') as NodeJS.SignalsListener[];
  const ignore = (): void => undefined; // Ctrl-C is for the editor
  process.removeAllListeners('SIGINT').on('SIGINT', ignore);
  return new Promise<string | undefined>((resolve) => {
    editor.once('error', (error) => resolve(`The editor did not start: ${error.message}.`));
    editor.once('close', (code) => resolve(code === 0 ? undefined : 'The editor failed: nothing is changed.'));
  }).finally(() => {
    for (const listener of listeners) process.on('SIGINT', listener);
    process.off('SIGINT', ignore);
  });
}

/** Reads edited arguments as strictly as a run reads those of a model. */
function readArguments(text: string): { arguments: JsonObject } | { problem: string } {
  const read = readJson(text, { root: 'the arguments' });
  if ('problem' in read) return { problem: `${read.problem}.` };
  return isObject(read.value)
    ? { arguments: read.value }
    : { problem: 'The arguments must be a JSON object with all of them.' };
}

/** The most events that are printed of the run itself, and of each run that called it. */
const [mostOfRun, mostAbove] = [20, 5];

/** Prints the last events of a request's run, after those of the runs that called it, outermost first. */
async function printContext({ questions, client, output }: Context, row: ApprovalSummary): Promise<void> {
  const { workflowId, lineage = [] } = row;
  for (const run of [...lineage, workflowId]) {
    questions.print(output.style('bold', `\nRun ${escapeText(run)}`));
    try {
      const events: RecordedEvent[] = [];
      for await (const event of client.events(run, { follow: false })) {
        if (event.type !== 'RawResponseEvent') events.push(event);
      }
      const omitted = events.length - (run === workflowId ? mostOfRun : mostAbove);
      // The first event is the task of the run, so it is printed even if the events after it are left out.
      const shown = omitted > 0 ? [events[0]!, ...events.slice(omitted + 1)] : events;
      for (const [index, event] of shown.entries()) {
        questions.print(renderEvent(output, event, {}));
        if (index === 0 && omitted > 0) questions.print(output.style('dim', `${omitted} events are left out`));
      }
    } catch (error) {
      if (!isProblemError(error)) throw error;
      questions.print(output.style('yellow', escapeText(error.message)));
    }
  }
}
