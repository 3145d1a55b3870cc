import { hideInRequest } from '../../core/ledger/hidden-arguments.ts';
import { redactInRequest } from '../../core/ledger/redacted-arguments.ts';
import { shownPreview } from '../../core/ledger/shown-parts.ts';
import { limitsOf } from '../../core/policy/limits.ts';
import type { Policy } from '../../core/policy/policy.ts';
import { redactionSettings } from '../../core/policy/redaction-settings.ts';
import { redactText } from '../../core/redact/find-sensitive.ts';
import { findOwn } from '../../core/redact/own-patterns.ts';
import { type FindOptions, redactionOf } from '../../core/redact/redact-arguments.ts';
import type { Redaction } from '../../core/redact/redaction.ts';
import type { JsonObject } from '../../core/base/tool-call.ts';
import type { PreviewedCall } from './preview-request.ts';

/** The call as a reviewer of a run under this policy sees it: with placeholders, or without arguments. */
export function asShown({ request, options, command }: PreviewedCall, policy: Policy | undefined): PreviewedCall {
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
  // No run asks about a call that nests as deeply: it is shown as it was written.
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
