/** The address of a run in Temporal's UI; undefined if the base is no web address. */
export function temporalHref(base: string, workflowId: string): string | undefined {
  return /^https?:\/\//.test(base) ? `${base}/workflows/${encodeURIComponent(workflowId.toWellFormed())}` : undefined;
}
