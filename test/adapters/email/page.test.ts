import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { emailKind } from '../../../src/adapters/email/email-kind.ts';
import { httpTemplateKind } from '../../../src/adapters/on-call/http-template-channel.ts';
import type { ChannelContext, ChannelKind } from '../../../src/channels/channel-kind.ts';

const kinds: Record<string, ChannelKind> = {
  email: emailKind,
  http_template: httpTemplateKind,
};
const environment = ['SMTP_PASSWORD', 'LINK_KEY', 'PAGERDUTY_ROUTING_KEY', 'OPSGENIE_KEY', 'TWILIO_BASIC'];

test.each(['email', 'on-call'])('the channel files of docs/%s.md are valid', async (page) => {
  for (const name of environment)
    process.env[name] = 'a secret of this test, which is long enough'.replaceAll(' ', '-');
  const text = readFileSync(join(import.meta.dirname, `../../../docs/${page}.md`), 'utf8');
  const files = [...text.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, file]) => parse(file!) as ChannelFile);
  const entries = files.flatMap(({ channels }) => Object.entries(channels));
  expect(entries.length).toBeGreaterThan(0);
  for (const [name, { kind, ...members }] of entries) {
    const known = kinds[kind]!;
    const channel = await known.make(known.shape.parse(members), { name } as ChannelContext);
    const first = kind === 'email' ? ['check'] : 'steps' in members ? ['steps'] : [];
    const last = kind === 'http_template' && !('settled' in members) ? [] : ['settled'];
    expect(Object.keys(channel)).toEqual([...first, 'reach', 'test', 'notify', ...last]);
  }
});

interface ChannelFile {
  channels: Record<string, { kind: string }>;
}
