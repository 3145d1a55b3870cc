export type PathParams = Readonly<Record<string, string>>;

/** Undefined if the path does not match; `:name` in the pattern matches one non-empty part. */
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

/** The query of an address; empty without parameters. */
export function queryText(params: URLSearchParams): string {
  return params.size === 0 ? '' : `?${params.toString()}`;
}

/** The address of a run in Temporal's UI; undefined if the base is not a web address. */
export function temporalHref(base: string, workflowId: string): string | undefined {
  return /^https?:\/\//.test(base) ? `${base}/workflows/${encodeURIComponent(workflowId.toWellFormed())}` : undefined;
}

/** The identity of a request. A run may claim another run's request id, so both ids count. */
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

/** The request of a path below `/inbox`; undefined for the path of another view. */
export function requestParams(path: string): RequestIds | undefined {
  const { workflowId, requestId } = matchPath(requestPattern, path) ?? {};
  return workflowId === undefined || requestId === undefined ? undefined : { workflowId, requestId };
}

export interface ViewProps {
  params: PathParams;
}
