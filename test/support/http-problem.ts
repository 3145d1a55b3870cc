/** What a test looks at in a refusal over HTTP. */
export interface HttpProblem {
  status: number;
  code?: string;
  detail: string;
}

/** Reads the problem of a response; throws for anything else. */
export async function httpProblem(response: Response): Promise<HttpProblem> {
  const type = response.headers.get('content-type');
  const text = await response.text();
  if (type !== 'application/problem+json') throw new Error(`${response.status} ${type} is no problem: ${text}`);
  const {
    type: about,
    status,
    title,
    detail,
    code,
  } = JSON.parse(text) as HttpProblem & { type: string; title: string };
  if (about !== 'about:blank' || status !== response.status || title === '') throw new Error(`no RFC 9457: ${text}`);
  return { status, detail, ...(code !== undefined && { code }) };
}
