import { escapeJson, escapeText, type JsonObject, isObject, type Json } from 'countersign/base';
import { MissingArgumentError, UsageError, type Output } from '../base/output.ts';
import { type Command, Option } from 'commander';
import type { AnswerAllOptions } from './answer-all.ts';
import { wholeNumber, withClient } from '../base/command-line.ts';
import { sendDecision, withDecision, type DecisionOptions } from './send-decision.ts';
import { readJsonOrFile, readJsonOption } from '../base/read-text.ts';
import { findNamed } from '../base/request-id.ts';
import type { RequestedScope } from 'countersign/client';
import { grantKinds, type GrantKind } from 'countersign/policy';

/** Renders two sets of arguments, one argument per line: `-` before, `+` after, unmarked if unchanged. */
export function renderChanges(output: Output, before: JsonObject, after: JsonObject): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .flatMap((name) => {
      const [was, is] = [lineOf(before, name), lineOf(after, name)];
      if (was === is) return [output.style('dim', `  ${was}`)];
      return [
        ...(was === undefined ? [] : [output.style('red', `- ${was}`)]),
        ...(is === undefined ? [] : [output.style('green', `+ ${is}`)]),
      ];
    })
    .join('\n');
}

function lineOf(args: JsonObject, name: string): string | undefined {
  return Object.hasOwn(args, name) ? `${escapeText(name)}: ${escapeJson(args[name]!)}` : undefined;
}

export function addApprove(command: Command): void {
  addAnswer(command, true, 'also approve future matching calls');
}

export function addDeny(command: Command): void {
  addAnswer(command, false, 'also deny future matching calls');
}

interface AnswerOptions extends AnswerAllOptions, AlwaysOptions {
  all?: boolean;
}

/** Adds the options and the action of `approve` or `deny`. `always`: how the description of `--always` begins. */
function addAnswer(command: Command, approved: boolean, always: string): void {
  withAlways(withDecision(command), always)
    .option('--all', 'every request that waits now: shows them, asks, and answers exactly these')
    .option('--tool <tool>', 'with --all: only calls of this tool')
    .option('--agent <agent>', 'with --all: only calls of this agent')
    .option('--limit <n>', 'with --all: the most requests (default: 100)', wholeNumber(1, 10_000))
    .option('--yes', 'with --all: do not ask');
  if (approved) command.option('--unseen', 'approve although not all arguments can be read');
  command.action(async (requestId: string | undefined, options: AnswerOptions) => {
    const { all = false, ...rest } = options;
    refuseMixed(command.name(), requestId, options);
    // `refuseMixed` has made sure that there is an id unless --all is given, and then this decision is not used.
    const decision = { requestId: requestId ?? '', approved, always: alwaysOf(options) };
    const mustBeShown = approved && options.unseen !== true;
    const { answerAll } = await import('./answer-all.ts');
    return withClient(options, (client, output) =>
      all
        ? answerAll(client, output, approved, rest)
        : sendDecision(client, output, { ...options, mustBeShown }, decision),
    );
  });
}

/** Throws a usage error for both an id and --all, for neither, and for a flag that belongs only to the other. */
function refuseMixed(name: string, requestId: string | undefined, options: AnswerOptions): void {
  const { all = false, tool, agent, limit, yes, always, digest } = options;
  if (all === (requestId !== undefined)) {
    // --json may have taken the id for its value: `parse` in `run-command-line.ts` then tries again.
    const Mistake = all ? UsageError : MissingArgumentError;
    throw new Mistake(`Say which request: its id, or --all for every one that waits, as in countersign ${name} --all.`);
  }
  if (all && (always !== undefined || digest !== undefined)) {
    throw new UsageError('--always and --digest are about one request: they do not go with --all.');
  }
  if (!all && [tool, agent, limit, yes].some((value) => value !== undefined)) {
    throw new UsageError('--tool, --agent, --limit and --yes choose among all requests: add --all, and no id.');
  }
}

interface EditOptions extends DecisionOptions {
  args: string;
}

/** Adds the command that approves a call with other arguments, and first shows how they differ. */
export function addEdit(command: Command): void {
  withDecision(command)
    .requiredOption('--args <json>', 'all its arguments, changed or not; @FILE reads them from a file')
    .action(async (id: string, options: EditOptions) => {
      const modifiedArguments = await readJsonOrFile('--args', options.args);
      if (!isObject(modifiedArguments)) throw new UsageError('--args must be an object with all arguments.');
      await withClient(options, async (client, output) => {
        const { run } = options;
        const { requestId } = await findNamed(client, id, run);
        const request = await client.approvals.get(requestId, { workflowId: run });
        const { arguments: shown, digest, workflowId } = request;
        const changes = renderChanges(output, shown, modifiedArguments);
        // Without this line, arguments that the policy hides would look as if the edit added them.
        const hiddenNote = request.shown === 'all' ? '' : 'The present arguments are not shown to reviewers.\n';
        output.tell(`${hiddenNote}${changes}`);
        // Without --digest, the digest is that of the compared call, so that a request that changes is not edited.
        const decided = { digest, ...options, run: workflowId };
        await sendDecision(client, output, decided, { requestId, approved: true, modifiedArguments });
      });
    });
}

interface RespondOptions extends DecisionOptions {
  jsonValue?: string;
}

/** Adds the command that sends the model an answer in place of the call's result. The call does not run. */
export function addRespond(command: Command): void {
  withDecision(command)
    .option('--json-value <json>', 'answer with JSON instead of text')
    .action((requestId: string, text: string | undefined, options: RespondOptions) => {
      const response = responseOf(text, options.jsonValue);
      return withClient(options, (client, output) =>
        sendDecision(client, output, options, { requestId, approved: false, response }),
      );
    });
}

/** Returns the answer from TEXT or --json-value. Throws a usage error for both, and for neither. */
function responseOf(text: string | undefined, json: string | undefined): Json {
  if ((text === undefined) === (json === undefined)) {
    throw new UsageError(
      "Give the answer that the model gets instead of the tool's result: TEXT, or --json-value JSON.",
    );
  }
  return text ?? readJsonOption('--json-value', json!);
}

interface AlwaysOptions {
  always?: GrantKind | true;
  match?: string[];
  expires?: string;
  uses?: number;
}

/** Adds `--always` and the flags that limit it. `what`: the beginning of the help text of `--always`. */
function withAlways(command: Command, what: string): Command {
  return command
    .addOption(
      new Option('--always [what]', `${what}: this call, calls whose arguments match, or the whole tool`).choices(
        grantKinds,
      ),
    )
    .option(
      '--match <field=glob>',
      'with --always arguments: what an argument has to match; may be given several times',
      (value: string, earlier?: string[]) => [...(earlier ?? []), value],
    )
    .option('--expires <duration>', 'with --always: for how long, such as 1h')
    .option('--uses <n>', 'with --always: how often', wholeNumber(1, 1_000_000));
}

/** Returns the scope of --always: `true` leaves it to the run; undefined without the flag. Throws if flags disagree. */
function alwaysOf({ always, match, expires, uses }: AlwaysOptions): boolean | RequestedScope | undefined {
  if (always === undefined) {
    if (match === undefined && expires === undefined && uses === undefined) return undefined;
    throw new UsageError('--match, --expires and --uses say how far --always goes: add --always.');
  }
  const kind = always === true && match !== undefined ? 'arguments' : always;
  if (kind === true) {
    if (expires === undefined && uses === undefined) return true;
    throw new UsageError(
      'Say what --expires and --uses limit: --always call, --always arguments --match FIELD=GLOB, or --always tool.',
    );
  }
  if ((kind === 'arguments') !== (match !== undefined)) {
    throw new UsageError('--always arguments goes with --match FIELD=GLOB, such as --match to=*@acme.com.');
  }
  return { kind, match: match && Object.fromEntries(match.map(fieldAndGlob)), expiresIn: expires, uses };
}

function fieldAndGlob(text: string): [field: string, glob: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--match takes FIELD=GLOB, such as to=*@acme.com, not '${text}'.`);
  return [text.slice(0, at), text.slice(at + 1)];
}
