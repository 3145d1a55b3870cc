import { sensitiveKinds } from '../core/redact/kinds.ts';
import type { Policy } from '../core/policy/policy.ts';
import type { CeilingRedaction } from '../core/policy/redaction-settings.ts';

/**
 * Why the policy of a run may not stand below a ceiling, with the place in its document; undefined if it may. Only the
 * ceiling and the policy of the agent hide arguments: a run that did would have its reviewers decide about they know not what.
 */
export function hidingProblem(
  { approval, redact }: Policy,
  ceiling: CeilingRedaction = {},
): { path: string; message: string } | undefined {
  const { redact: isRedacted = true, kinds = sensitiveKinds } = ceiling;
  const places = {
    'approval.include_arguments': approval.includeArguments === false,
    'approval.redact': approval.redact === true && !isRedacted,
    'redact.also': (redact?.also ?? []).length > 0,
    'redact.patterns': (redact?.patterns ?? []).length > 0,
    'redact.kinds': (redact?.kinds ?? []).some((kind) => !kinds.includes(kind)),
  };
  const found = Object.entries(places).find(([, hides]) => hides);
  if (found === undefined) return undefined;
  const [path] = found;
  const [section, key = ''] = path.split('.');
  const what = section === 'redact' ? `'${key}'` : `'${key}: ${key === 'redact'}'`;
  const message = `${what} hides arguments from the reviewers of the ceiling: it belongs in the ceiling or in the agent's policy`;
  return { path, message };
}
