import type { Policy } from '../core/policy/policy.ts';

/**
 * Why the policy of a run may not stand below a ceiling, with the place in its document; undefined if it may. Only the
 * ceiling and the policy of the agent hide arguments: a run that did would have its reviewers decide about they know not what.
 */
export function hidingProblem({ approval, redact }: Policy): { path: string; message: string } | undefined {
  const places = {
    'approval.include_arguments': approval.includeArguments === false,
    'redact.also': (redact?.also ?? []).length > 0,
    'redact.patterns': (redact?.patterns ?? []).length > 0,
  };
  const found = Object.entries(places).find(([, hides]) => hides);
  if (found === undefined) return undefined;
  const [path] = found;
  const what = path === 'approval.include_arguments' ? `'include_arguments: false'` : `'${path.split('.')[1]}'`;
  const message = `${what} hides arguments from the reviewers of the ceiling: it belongs in the ceiling or in the agent's policy`;
  return { path, message };
}
