import type { Tool } from '../agents/definitions.ts';
import { redactText } from '../core/redact/find-sensitive.ts';
import { findOwn } from '../core/redact/own-patterns.ts';
import { redactionOf } from '../core/redact/redact-arguments.ts';
import type { Redaction, RedactionSettings } from '../core/redact/redaction.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import type { CallModelInput, CallModelResult, ModelCall } from './model-turn.ts';

/** Longest part of a text beside the calls that is searched; reviewers see its beginning. */
const mostSearched = 4_000;

/** Adds to each call that can run what reviewers do not see of its arguments. */
export function redactCalls(
  calls: readonly ModelCall[],
  toolNamed: (name: string) => Pick<Tool, 'subject' | 'shellSubject'> | undefined,
  settings: RedactionSettings | undefined,
): ModelCall[] {
  if (settings === undefined) return [...calls];
  return calls.map((call) =>
    call.args === undefined ? call : { ...call, redaction: redactCall(call.args, toolNamed(call.tool), settings) },
  );
}

export function redactCall(
  args: JsonObject,
  tool: Pick<Tool, 'subject' | 'shellSubject'> | undefined,
  settings: RedactionSettings,
): Redaction {
  const command = tool?.shellSubject === true ? tool.subject : undefined;
  return redactionOf(args, { settings, findMore: findOwn(settings.patterns), command });
}

/** The model's text, else the last user message, without what the policies' own patterns match. */
export function shownBeside(
  text: string,
  { messages, redact }: Pick<CallModelInput, 'messages' | 'redact'>,
): Pick<CallModelResult, 'contextSummary'> {
  if (redact === undefined || redact.patterns.length === 0) return {};
  const beside = text.trim() === '' ? (messages.findLast(({ role }) => role === 'user')?.content ?? '') : text;
  return { contextSummary: redactText(beside.slice(0, mostSearched), redact.kinds, findOwn(redact.patterns)) };
}
