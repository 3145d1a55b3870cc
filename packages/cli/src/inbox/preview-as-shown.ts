import type { JsonObject } from 'countersign/base';
import { hideInRequest, redactInRequest, shownPreview } from 'countersign/card';
import {
  limitsOf,
  redactionSettings,
  redactText,
  findOwn,
  redactionOf,
  type Policy,
  type FindOptions,
  type Redaction,
} from 'countersign/policy';
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
