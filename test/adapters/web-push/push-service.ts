import { createDecipheriv, createECDH, type ECDH, hkdfSync, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { importJWK, type JWTPayload, jwtVerify } from 'jose';
import type { BrowserSubscription } from '../../../src/channels/chat-app.ts';
import type { PushMessage } from '../../../src/adapters/web-push/push-message.ts';
import { listen } from '../../support/listen.ts';
import { selfSigned } from '../../support/certificates.ts';

/** A message that a push service got for one of its browsers. */
export interface Pushed {
  browser: string;
  headers: IncomingHttpHeaders;
  /** As the browser decrypts it. */
  text: string;
  message: PushMessage;
}

/** A push service with browsers, as their makers run one, on https at 127.0.0.1. */
export interface PushServiceInTest {
  url: string;
  /** The certificate of its authority. */
  ca: string;
  pushed: Pushed[];
  /** What it answers for a browser. Default 201. */
  answers: Map<string, number>;
  /** The number of connections so far. */
  connections: number;
  /** A new browser that subscribes. */
  subscribe(browser: string): BrowserSubscription;
  stop(): Promise<void>;
}

export async function openPushService(): Promise<PushServiceInTest> {
  const { key, cert } = selfSigned();
  const browsers = new Map<string, { pair: ECDH; auth: Buffer }>();
  const server = createServer({ key, cert }, (request, response) => {
    const taking = buffer(request).then((body) => {
      const browser = decodeURIComponent(request.url!.split('/').at(-1)!);
      const { pair, auth } = browsers.get(browser)!;
      const text = decrypted(body, pair, auth);
      service.pushed.push({ browser, headers: request.headers, text, message: JSON.parse(text) as PushMessage });
      response.writeHead(service.answers.get(browser) ?? 201, { location: `${service.url}/messages/1` }).end();
    });
    // A message that its browser cannot read.
    taking.catch(() => response.writeHead(400).end());
  });
  server.on('secureConnection', () => (service.connections += 1));
  const { address, close } = await listen(server);
  const service: PushServiceInTest = {
    url: `https://${address}`,
    ca: cert,
    pushed: [],
    answers: new Map(),
    connections: 0,
    subscribe: (browser) => {
      const [pair, auth] = [createECDH('prime256v1'), randomBytes(16)];
      const p256dh = pair.generateKeys('base64url');
      browsers.set(browser, { pair, auth });
      return {
        endpoint: `${service.url}/push/${encodeURIComponent(browser)}`,
        keys: { p256dh, auth: auth.toString('base64url') },
      };
    },
    stop: close,
  };
  return service;
}

/** What the sender has signed, if its signature is of this key. */
export async function vapidOf({ headers }: Pushed, publicKey: string): Promise<JWTPayload> {
  const [, token, sent] = /^vapid t=(\S+), k=(\S+)$/.exec(headers.authorization ?? '')!;
  if (sent !== publicKey) throw new Error('signed with another key');
  const bytes = Buffer.from(publicKey, 'base64url');
  const [x, y] = [bytes.subarray(1, 33), bytes.subarray(33)].map((each) => each.toString('base64url'));
  const key = await importJWK({ kty: 'EC', crv: 'P-256', x, y }, 'ES256');
  return (await jwtVerify(token!, key, { algorithms: ['ES256'] })).payload;
}

/** A message of RFC 8291, as the browser with this pair of keys reads it. */
function decrypted(body: Buffer, pair: ECDH, auth: Buffer): string {
  const [salt, idLength] = [body.subarray(0, 16), body[20]!];
  const sender = body.subarray(21, 21 + idLength);
  const [text, tag] = [body.subarray(21 + idLength, -16), body.subarray(-16)];
  const derived = (secret: Uint8Array, from: Uint8Array, info: Uint8Array, length: number): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', secret, from, info, length));
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), pair.getPublicKey(), sender]);
  const secret = derived(pair.computeSecret(sender), auth, info, 32);
  const key = derived(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
  const nonce = derived(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
  const decipher = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(tag);
  const padded = Buffer.concat([decipher.update(text), decipher.final()]);
  return padded.subarray(0, padded.lastIndexOf(2)).toString('utf8');
}
