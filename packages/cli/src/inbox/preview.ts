import { buffer } from 'node:stream/consumers';
import stringWidth from 'string-width';
import { escapeJson, type Json, type JsonObject, terminalClock } from 'countersign/base';
import {
  cardDigest,
  cardOf,
  renderHtmlPage,
  renderMarkdown,
  renderSlack,
  renderTerminal,
  type Card,
  hideInRequest,
  redactInRequest,
  shownPreview,
} from 'countersign/card';
import {
  type Policy,
  limitsOf,
  redactionSettings,
  redactText,
  findOwn,
  redactionOf,
  type FindOptions,
  type Redaction,
} from 'countersign/policy';
import type { Output } from '../base/output.ts';
import { readPolicyFile, problemLines } from '../policy/policy-file.ts';
import { previewRequest, type PreviewedCall } from './preview-request.ts';
import { UsageError } from '../base/report-error.ts';
import type { CommonOptions } from '../base/command-line.ts';

export interface PreviewOptions extends CommonOptions {
  channel: 'terminal' | 'markdown' | 'html' | 'slack' | 'text';
  all?: boolean;
  policy?: string;
}

/** Prints the card of the call on standard input, as a channel shows it to a reviewer. */
export async function previewCard({ channel, all, policy: file, json }: PreviewOptions, output: Output): Promise<void> {
  const policy = file === undefined ? undefined : await readPolicy(file, output);
  if (policy === null) return;
  const call = await previewRequest(await readInput(), Date.now(), policy);
  const { request, options } = asShown(call, policy);
  const card = cardOf(request, { ...options, all });
  if (json !== undefined) output.json({ ...card, digest: cardDigest(card) });
  else output.line(rendered(card, channel, all === true, output));
}

/** The card as the channel shows it. */
function rendered(card: Card, channel: PreviewOptions['channel'], all: boolean, output: Output): string {
  switch (channel) {
    case 'terminal':
      return renderTerminal(card, {
        width: output.width,
        style: (style, text) => output.style(style, text),
        columnsOf: stringWidth,
        seeAll: '--all shows it',
        raw: all,
        clock: terminalClock(Date.now()),
      });
    case 'markdown':
      return renderMarkdown(card);
    case 'html':
      return renderHtmlPage(card);
    case 'slack':
      return escapeJson({ messages: renderSlack(card) } as unknown as Json, 2);
    case 'text':
      return renderTerminal(card, { raw: true });
  }
}

async function readPolicy(file: string, output: Output): Promise<Policy | null> {
  const loaded = await readPolicyFile(file, 'run');
  if (!('problems' in loaded)) return loaded.policy;
  output.note(problemLines(file, loaded.problems));
  process.exitCode = 1;
  return null;
}

async function readInput(): Promise<string> {
  const bytes = await buffer(process.stdin);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError('Standard input is not JSON in UTF-8: give it one JSON object { tool, args }.');
  }
}

/** The call as a reviewer of a run under this policy sees it: with placeholders, or without arguments. */
function asShown({ request, options, command }: PreviewedCall, policy: Policy | undefined): PreviewedCall {
  const layers = policy === undefined ? {} : { run: policy };
  if (!limitsOf(layers).includeArguments) {
    const { written: _, ...others } = options;
    return { request: { ...hideInRequest(request), preview: undefined }, options: others };
  }
  const settings = redactionSettings(layers);
  if (settings === undefined) return { request, options };
  const findMore = findOwn(settings.patterns);
  const redacted = (text: string): string => redactText(text, settings.kinds, findMore);
  const { written } = options;
  const asWritten = { ...options, ...(written !== undefined && { written: redacted(written) }) };
  const redaction = redactionIn(request.arguments, { settings, findMore, command });
  // No run asks about a call nested this deeply, so it is shown as written.
  if (redaction === undefined) return { request: { ...request, arguments: {} }, options: asWritten };
  const shown = redactInRequest({ ...request, contextSummary: redacted(request.contextSummary) }, redaction);
  const preview = shownPreview({ request, redaction }, request.preview);
  return { request: { ...shown, preview }, options: asWritten };
}

/** Undefined if the arguments are nested too deeply to be searched. */
function redactionIn(args: JsonObject, options: FindOptions): Redaction | undefined {
  try {
    return redactionOf(args, options);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
