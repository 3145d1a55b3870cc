/** A proxy, certificates of both sides, and an authority of one's own. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { webhookChannel } from '../../../src/adapters/webhook/webhook-channel.ts';
import type { WebhookOptions } from '../../../src/adapters/webhook/webhook-settings.ts';
import { makeCertificate } from '../../support/certificates.ts';
import { type Receiver, notifyContext, openReceiver, sampleRequest } from './webhook-receiver.ts';
import { listen } from '../../support/listen.ts';

const secret = 'a secret of this test, long enough';
const allowAddresses = ['127.0.0.1'];
let folder: string;
let receiver: Receiver;
const file = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-webhook-'));
  makeCertificate(folder, 'authority');
  makeCertificate(folder, 'stranger');
  makeCertificate(folder, 'server', 'authority');
  makeCertificate(folder, 'client', 'authority');
  makeCertificate(folder, 'foreign', 'stranger');
  const [cert, key, ca] = ['server.pem', 'server.key', 'authority.pem'].map((name) => readFileSync(file(name)));
  receiver = await openReceiver(() => undefined, {
    tls: { cert, key, ca, requestCert: true, rejectUnauthorized: true },
  });
});
afterAll(async () => {
  await receiver.close();
  rmSync(folder, { recursive: true });
});

async function send(options: Partial<WebhookOptions>): Promise<void> {
  const channel = await webhookChannel({ url: receiver.url, secret, allowAddresses, ...options });
  await channel.notify!(sampleRequest(), notifyContext());
}
const client = () => ({ cert: file('client.pem'), key: file('client.key') });

test('the receiver and the channel prove themselves to each other', async () => {
  await send({ tls: { ...client(), ca: file('authority.pem') } });
  expect(receiver.hits).toHaveLength(1);
});

test('a receiver whose authority is not believed gets nothing', async () => {
  const before = receiver.hits.length;
  await expect(send({ tls: client() })).rejects.toThrow();
  await expect(send({ tls: { ...client(), ca: file('stranger.pem') } })).rejects.toThrow();
  expect(receiver.hits).toHaveLength(before);
});

test('without the right certificate of its own, the channel is not heard', async () => {
  const before = receiver.hits.length;
  await expect(send({ tls: { ca: file('authority.pem') } })).rejects.toThrow();
  const tls = { ca: file('authority.pem'), cert: file('foreign.pem'), key: file('foreign.key') };
  await expect(send({ tls })).rejects.toThrow();
  expect(receiver.hits).toHaveLength(before);
});

test('through a proxy, which looks names up; addresses and names of this machine are still refused', async () => {
  const plain = await openReceiver(() => undefined);
  const asked: string[] = [];
  const credentials: unknown[] = [];
  const proxy = createServer();
  proxy.on('request', (incoming, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    credentials.push(incoming.headers['proxy-authorization']);
    incoming.resume();
    outgoing.writeHead(204).end();
  });
  proxy.on('connect', (incoming, near) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    const far = connect(receiver.port, '127.0.0.1', () => near.write('HTTP/1.1 200 OK\r\n\r\n'));
    near.on('error', () => far.destroy()).pipe(far);
    far.on('error', () => near.destroy()).pipe(near);
  });
  const { address: at, close } = await listen(proxy);
  const none = { allowAddresses: [] };

  await send({ ...none, url: 'http://receiver.example/requests', proxy: `http://me:word@${at}` });
  expect(asked).toEqual(['POST http://receiver.example/requests']);
  expect(credentials).toEqual([`Basic ${Buffer.from('me:word').toString('base64')}`]);

  const before = receiver.hits.length;
  await send({
    url: `https://127.0.0.1:${receiver.port}/`,
    proxy: `http://${at}`,
    tls: { ...client(), ca: file('authority.pem') },
  });
  expect(asked.at(-1)).toBe(`CONNECT 127.0.0.1:${receiver.port}`);
  expect(receiver.hits).toHaveLength(before + 1);

  const count = asked.length;
  for (const url of [
    plain.url,
    'http://169.254.169.254/',
    'http://localhost/',
    'http://a.localhost./',
    'http://[::1]/',
  ]) {
    await expect(send({ ...none, url, proxy: `http://${at}` })).rejects.toMatchObject({ code: 'policy_invalid' });
  }
  expect(asked).toHaveLength(count);
  expect(plain.hits).toEqual([]);
  await plain.close();
  await close();
});
