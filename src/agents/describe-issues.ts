import { jsonPlace } from '../core/base/json.ts';
import type { StandardSchemaV1 } from '@standard-schema/spec';

/** An issue of any Standard Schema; those of zod say more of a union. */
export type Issue = StandardSchemaV1.Issue & { readonly errors?: unknown };

const mostIssues = 5;

/** Describes the first five issues of a value that its author calls `root`: a place and what was expected there. */
export function describeIssues(root: string, issues: readonly Issue[], above: readonly PropertyKey[] = []): string {
  const shown = issues.slice(0, mostIssues).map((issue) => describeOne(root, issue, above));
  if (issues.length > mostIssues) shown.push(`and ${issues.length - mostIssues} more`);
  return shown.join('; ');
}

function describeOne(root: string, issue: Issue, above: readonly PropertyKey[]): string {
  const path = [...above, ...(issue.path ?? []).map((step) => (typeof step === 'object' ? step.key : step))];
  if (isUnion(issue.errors)) {
    const branches = issue.errors.map((branch) => describeIssues(root, branch.slice(0, 1), path));
    return [...new Set(branches)].join(', or ');
  }
  const message = issue.message.replace(/^Invalid input: /, '').replace(/\s+/g, ' ');
  return `${jsonPlace(root, path)}: ${message}`;
}

/** True for the issues of each branch of a zod union. */
function isUnion(errors: unknown): errors is readonly (readonly Issue[])[] {
  return Array.isArray(errors) && errors.length > 0 && errors.every(Array.isArray);
}
