import { buffer } from 'node:stream/consumers';
import stringWidth from 'string-width';
import { escapeJson, type Json } from 'countersign/base';
import {
  cardDigest,
  cardOf,
  renderHtmlPage,
  renderMarkdown,
  renderSlack,
  renderTerminal,
  type Card,
} from 'countersign/card';
import type { Policy } from 'countersign/policy';
import type { PreviewOptions } from './approvals.ts';
import type { Output } from '../base/output.ts';
import { readPolicyFile, problemLines } from '../policy/policy-file.ts';
import { asShown } from './preview-as-shown.ts';
import { previewRequest } from './preview-request.ts';
import { UsageError } from '../base/report-error.ts';

/** Prints the card of the call on standard input, as a reviewer on a channel gets it. */
export async function previewCard({ channel, all, policy: file, json }: PreviewOptions, output: Output): Promise<void> {
  const policy = file === undefined ? undefined : await readPolicy(file, output);
  if (policy === null) return;
  const call = await previewRequest(await readInput(), Date.now(), policy);
  const { request, options } = asShown(call, policy);
  const card = cardOf(request, { ...options, all });
  if (json !== undefined) output.json({ ...card, digest: cardDigest(card) });
  else output.line(rendered(card, channel, all === true, output));
}

function rendered(card: Card, channel: PreviewOptions['channel'], all: boolean, output: Output): string {
  switch (channel) {
    case 'terminal':
      return renderTerminal(card, {
        width: output.width,
        style: (style, text) => output.style(style, text),
        columnsOf: stringWidth,
        seeAll: '--all shows it',
        raw: all,
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
