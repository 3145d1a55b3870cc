import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { HttpTemplateOptions } from '../../../src/adapters/on-call/http-template-channel.ts';

export const routingKey = 'a'.repeat(32);

/** The channel file for PagerDuty of docs/on-call.md, whose events go to a service in test. */
export function pagerDutyFile(url: string): string {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/on-call.md'), 'utf8');
  const [, file] = /^## PagerDuty\n\n```yaml\n(.*?)^```/ms.exec(page)!;
  return file!.replaceAll('https://events.pagerduty.com', url);
}

/** The templates of that file: for all steps, and without a link. */
export function pagerDutyTemplate(url: string): Pick<HttpTemplateOptions, 'notify' | 'settled' | 'secrets'> {
  const { channels } = parse(pagerDutyFile(url)) as { channels: { pager: HttpTemplateOptions } };
  const { notify, settled } = channels.pager;
  return { notify, ...(settled !== undefined && { settled }), secrets: { routing_key: routingKey } };
}

/** The keys of the events of an action about a request, one for each event. */
export function incidentKeys(requests: readonly { body: string }[], action: string, requestId: string): string[] {
  return (
    requests
      // A worker looks at its start whether the receiver is there.
      .filter(({ body }) => body !== '')
      .map(({ body }) => JSON.parse(body) as { event_action: string; dedup_key: string })
      .filter((each) => each.event_action === action && each.dedup_key.includes(requestId))
      .map((each) => each.dedup_key)
  );
}
