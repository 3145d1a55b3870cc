import { escapeText, isProblemError, parseDuration } from 'countersign/base';
import { coveredCalls } from 'countersign/adapter';
import { scopeSteps, type RequestedScope } from 'countersign/card';
import type { ApprovalDetails } from 'countersign/client';
import { compileFieldGlob } from 'countersign/policy';
import type { Context, Questions } from './questions.ts';

/** Asks which calls an "always" approves and for how long, until this call is one of them. Undefined: go back. */
export async function askScope(context: Context, request: ApprovalDetails): Promise<RequestedScope | undefined> {
  const { questions } = context;
  for (;;) {
    const chosen = await askKind(questions, request);
    if (chosen === undefined) return undefined;
    const { kind } = chosen;
    const match = kind === 'arguments' ? await askPatterns(questions, chosen.match!) : {};
    if (match === undefined) return undefined;
    const expiresIn = await askDuration(questions);
    if (expiresIn === undefined) return undefined;
    const scope = { kind, ...(kind === 'arguments' && { match }), ...(expiresIn !== '' && { expiresIn }) };
    if (!(await printCovered(context, request, scope))) continue;
    const line = (await questions.answer('[y]es, approve it and such later calls. Enter goes back: ')).trim();
    return line === 'y' || line === 'yes' ? scope : undefined;
  }
}

/** Asks for the kind of scope. `arguments` has patterns that match only the present values. Undefined after `.`. */
async function askKind({ print, text }: Questions, request: ApprovalDetails): Promise<RequestedScope | undefined> {
  const { toolName, arguments: args, always: terms } = request;
  const steps = scopeSteps({ tool: toolName, args, terms: terms! });
  const tool = escapeText(toolName);
  const titles: Record<RequestedScope['kind'], string> = {
    call: 'only this very call',
    arguments: `calls of ${tool} whose arguments match patterns`,
    tool: `every call of ${tool}`,
  };
  print('In this run, from now on, also approve:');
  for (const [index, { kind }] of steps.entries()) print(`  ${index + 1}  ${titles[kind]}`);
  for (;;) {
    const line = await text(`1${steps.length === 1 ? '' : ` to ${steps.length}`} (. goes back): `);
    if (line === undefined) return undefined;
    const step = steps.find((_, index) => line.trim() === `${index + 1}`);
    if (step !== undefined) return step;
  }
}

/** Asks for a pattern for each argument. Proposes one that matches only the present value. Undefined after `.`. */
async function askPatterns(
  { print, text }: Questions,
  exact: Readonly<Record<string, string>>,
): Promise<Record<string, string> | undefined> {
  print('* in a pattern stands for any text. Enter keeps the pattern in brackets; . goes back.');
  const match: Record<string, string> = {};
  for (const [name, pattern] of Object.entries(exact)) {
    for (;;) {
      const line = await text(`  ${escapeText(name)} [${escapeText(pattern)}]: `);
      if (line === undefined) return undefined;
      const written = line.trim() || pattern;
      const glob = compileFieldGlob(written);
      match[name] = written;
      if (!('problem' in glob)) break;
      print(`The pattern ${glob.problem}.`);
    }
  }
  return match;
}

/** Asks for a duration; empty if the scope has no end before the run's. Undefined after `.`. */
async function askDuration({ print, text }: Questions): Promise<string | undefined> {
  for (;;) {
    const line = (await text('For how long, such as 1h (Enter: until the run ends; . goes back): '))?.trim();
    if (line === undefined || line === '') return line;
    const parsed = parseDuration(line);
    if ('durationMs' in parsed && parsed.durationMs !== null) return line;
    print('Write a whole number and a unit, such as 30s, 5m, 1h or 1d.');
  }
}

/** Prints which arguments the scope does not limit, and which past calls it covers. False if not even this call. */
async function printCovered(
  { questions: { print }, client, output }: Context,
  request: ApprovalDetails,
  scope: RequestedScope,
): Promise<boolean> {
  const properties = request.schema?.['properties'];
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  // Patterns were asked for only the arguments that the call has. A later call may also have others.
  const unlimited = names.filter((name) => !Object.hasOwn(request.arguments, name));
  if (scope.kind === 'arguments' && unlimited.length > 0) {
    print(output.style('yellow', `Not limited: ${unlimited.map(escapeText).join(', ')}`));
  }
  try {
    const { covers, matched, looked } = await coveredCalls(client, request, scope);
    const calls = `${looked} past calls of ${escapeText(request.toolName)}`;
    if (!covers) print(output.style('yellow', 'This does not cover the call itself: choose again.'));
    else print(`It would have covered ${matched.length} of ${calls} in this run and the newest runs of its agent.`);
    return covers;
  } catch (error) {
    if (!isProblemError(error)) throw error;
    print(output.style('yellow', escapeText(error.message)));
    // Past calls are only for information, so the reviewer can confirm without them.
    return true;
  }
}
