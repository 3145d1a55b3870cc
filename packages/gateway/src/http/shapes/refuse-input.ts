import type { Context } from 'hono';
import { visibleText, type ProblemCode } from 'countersign/base';
import { jsonPlace } from 'countersign/json';
import type { HttpEnv } from '../http-env.ts';
import { problemResponse } from '../responses/problem-response.ts';

/** An issue as zod reports it. */
interface Issue {
  code?: string;
  path: PropertyKey[];
  message: string;
  keys?: string[];
  errors?: Issue[][];
}

type Checked = { success: true } | { success: false; target: string; error: { issues: unknown } };

const longestDetail = 500;
const roots: Record<string, string> = { json: 'body', form: 'body', param: 'path' };

/** The `defaultHook` of a routes' app: refuses input that does not have its shape, with the place of the first mistake. */
export function refuseInput(code: ProblemCode = 'arguments_invalid') {
  return (result: Checked, _context: Context<HttpEnv>): Response | undefined => {
    if (result.success) return undefined;
    const [first] = result.error.issues as Issue[];
    const message =
      first === undefined ? 'the input is not valid' : sentenceOf(first, roots[result.target] ?? result.target);
    return problemResponse({ code, message: visibleText(message).slice(0, longestDetail) });
  };
}

function sentenceOf(issue: Issue, root: string, path: PropertyKey[] = []): string {
  const place = [...path, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys ?? [];
    return `${jsonPlace(root, [...place, key])}: there is no such member`;
  }
  // Report the alternative of a union that fits furthest.
  const branches = (issue.errors ?? []).flatMap(([first]) => (first === undefined ? [] : [first]));
  const nearest = branches.toSorted((one, other) => depthOf(other) - depthOf(one))[0];
  if (nearest !== undefined && depthOf(nearest) > 0) return sentenceOf(nearest, root, place);
  const expected = branches.length > 0 ? branches.map(({ message }) => message).join('; or ') : issue.message;
  return `${jsonPlace(root, place)}: ${expected}`;
}

function depthOf({ code, path }: Issue): number {
  return path.length + (code === 'unrecognized_keys' ? 1 : 0);
}
