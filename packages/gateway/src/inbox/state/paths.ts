/** The parts of a path that a pattern names, decoded. */
export type PathParams = Readonly<Record<string, string>>;

/** Undefined if the path does not fit; `:name` in the pattern stands for one part that is not empty. */
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

/** The address of a run in Temporal's UI; undefined if the base is no web address. */
export function temporalHref(base: string, workflowId: string): string | undefined {
  return /^https?:\/\//.test(base) ? `${base}/workflows/${encodeURIComponent(workflowId.toWellFormed())}` : undefined;
}

/** What identifies a request. One run cannot speak for the request of another, so both ids count. */
export interface RequestIds {
  workflowId: string;
  requestId: string;
}

/** Identifies a request in a set. */
export function requestKey({ workflowId, requestId }: RequestIds): string {
  return `${workflowId}\n${requestId}`;
}

export function isSameRequest(one: RequestIds, other: RequestIds): boolean {
  return one.requestId === other.requestId && one.workflowId === other.workflowId;
}

/** What every view gets: the parts of the path that its pattern names. */
export interface ViewProps {
  params: PathParams;
}
