/**
 * A service in the house decides: the worker posts the request to it, and its verdict is the answer.
 *
 *   VERDICT_URL=http://127.0.0.1:8080/verdicts countersign worker examples/channels/external-service.ts
 *   countersign run shop --input 'My lamp came broken'
 *
 * A service that takes minutes, or is on the internet, is better reached by a webhook (docs/channels.md).
 */
import { callback } from 'countersign/channels';
import { policy, shop } from './shop.ts';

const { VERDICT_URL: url = 'http://127.0.0.1:8080/verdicts' } = process.env;

const service = callback(async (request, signal) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      id: request.requestId,
      tool: request.toolName,
      arguments: request.arguments,
      severity: request.assessment.severity,
    }),
    signal,
  });
  // An error denies: a service that is down approves nothing.
  if (!response.ok) throw new Error(`the service answered ${response.status}`);
  const { verdict, by, note } = (await response.json()) as { verdict: string; by: string; note?: string };
  return { approved: verdict === 'yes', reviewerId: by, ...(note !== undefined && { reason: note }) };
});

export default { agents: [shop], policy, channels: { service } };
