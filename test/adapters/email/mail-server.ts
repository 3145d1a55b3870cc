import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { startOn } from '../../support/start-on.ts';

/** A mail as a server got it. */
export interface ReceivedMail {
  to: string[];
  raw: string;
  /** By name in lower case, unfolded and decoded. */
  headers: ReadonlyMap<string, string>;
  /** The parts by media type, decoded. */
  parts: ReadonlyMap<string, string>;
}

/** An SMTP server on 127.0.0.1. */
export interface MailServerInTest {
  port: number;
  mails: ReceivedMail[];
  /** The answer to `RCPT TO` by address, such as `550 no such user`. */
  refusals: Map<string, string>;
  /** The addresses that were refused, in order. */
  refused: string[];
  stop(): Promise<void>;
  start(): Promise<void>;
}

export async function openMailServer(options: SMTPServerOptions = {}): Promise<MailServerInTest> {
  let server: SMTPServer | undefined;
  const inTest: MailServerInTest = {
    port: 0,
    mails: [],
    refusals: new Map(),
    refused: [],
    stop: async () => {
      const stopping = server;
      server = undefined;
      if (stopping !== undefined) await new Promise<void>((resolve) => stopping.close(() => resolve()));
    },
    start: async () => {
      server = await startOn(inTest.port, listening);
      inTest.port = (server.server.address() as AddressInfo).port;
    },
  };
  await inTest.start();
  return inTest;

  async function listening(): Promise<SMTPServer> {
    const smtp = new SMTPServer({
      authOptional: true,
      disableReverseLookup: true,
      disabledCommands: ['STARTTLS'],
      onRcptTo: ({ address }, _session, done) => {
        const refusal = inTest.refusals.get(address);
        if (refusal === undefined) return done();
        inTest.refused.push(address);
        const [code, ...words] = refusal.split(' ');
        done(Object.assign(new Error(words.join(' ')), { responseCode: Number(code) }));
      },
      onData: (stream, { envelope }, done) => {
        void text(stream).then((raw) => {
          inTest.mails.push(
            received(
              raw,
              envelope.rcptTo.map(({ address }) => address),
            ),
          );
          done();
        });
      },
      ...options,
    });
    smtp.on('error', () => undefined);
    smtp.listen(inTest.port, '127.0.0.1');
    await once(smtp.server, 'listening');
    return smtp;
  }
}

function received(raw: string, to: string[]): ReceivedMail {
  const { headers, body } = entity(raw);
  const boundary = /boundary="([^"]+)"/.exec(headers.get('content-type') ?? '')?.[1];
  const parts = new Map<string, string>();
  for (const part of body.split(`--${boundary}\r\n`).slice(1)) {
    const inner = entity(part.split(`\r\n--${boundary}`)[0]!);
    const [type] = inner.headers.get('content-type')!.split(';');
    parts.set(type!, decoded(inner.body, inner.headers.get('content-transfer-encoding')));
  }
  return { to, raw, headers, parts };
}

function entity(raw: string): { headers: Map<string, string>; body: string } {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (headers.has(name)) throw new Error(`two headers ${name}`);
    headers.set(name, words(line.slice(colon + 1).trim()));
  }
  return { headers, body: raw.slice(end + 4) };
}

function decoded(body: string, encoding = '7bit'): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString().replaceAll('\r\n', '\n');
  const plain = encoding === 'quoted-printable' ? quotedPrintable(body.replaceAll('=\r\n', '')) : body;
  return plain.replaceAll('\r\n', '\n');
}

function quotedPrintable(written: string): string {
  const bytes = written.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString();
}

/** Encoded words of a header (RFC 2047). */
function words(value: string): string {
  return value
    .replaceAll(/\?= +=\?/g, '?==?')
    .replaceAll(/=\?UTF-8\?([QB])\?([^?]*)\?=/gi, (_, way: string, word: string) =>
      way.toUpperCase() === 'B' ? Buffer.from(word, 'base64').toString() : quotedPrintable(word.replaceAll('_', ' ')),
    );
}
