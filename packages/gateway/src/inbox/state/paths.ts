export type PathParams = Readonly<Record<string, string>>;

/** The parameters of a path; undefined if it does not match. `:name` in `pattern` matches one non-empty segment. */
export function matchPath(pattern: string, path: string): PathParams | undefined {
  const [wanted, given] = [partsOf(pattern), partsOf(path)];
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index]!;
    if (!part.startsWith(':')) {
      if (part !== value) return undefined;
      continue;
    }
    try {
      params[part.slice(1)] = decodeURIComponent(value);
    } catch {
      return undefined;
    }
  }
  return params;
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '');
}

/** Parameters as the query of an address; empty without parameters. */
export function queryText(params: URLSearchParams): string {
  return params.size === 0 ? '' : `?${params.toString()}`;
}

/** The address of a run in Temporal's UI; undefined if `base` is not a web address. */
export function temporalHref(base: string, workflowId: string): string | undefined {
  return /^https?:\/\//.test(base) ? `${base}/workflows/${encodeURIComponent(workflowId.toWellFormed())}` : undefined;
}

/** What identifies a request. It needs both ids, because a run could claim the request id of another run. */
export interface RequestIds {
  workflowId: string;
  requestId: string;
}

export function requestKey({ workflowId, requestId }: RequestIds): string {
  return `${workflowId}\n${requestId}`;
}

export function isSameRequest(one: RequestIds, other: RequestIds): boolean {
  return one.requestId === other.requestId && one.workflowId === other.workflowId;
}

export const requestPattern = '/requests/:workflowId/:requestId';

/** The request that a path below `/inbox` names; undefined for the path of another view. */
export function requestParams(path: string): RequestIds | undefined {
  const { workflowId, requestId } = matchPath(requestPattern, path) ?? {};
  return workflowId === undefined || requestId === undefined ? undefined : { workflowId, requestId };
}

export interface ViewProps {
  params: PathParams;
}
