/** Connection flags, on the real server behind a proxy that speaks TLS and asks for a client's certificate. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nextCommand } from '../../../packages/cli/src/base/command-line.ts';
import { noServer } from './in-process.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { agentsModule, cli, startCli } from './support.ts';
import { type Listening, listen } from '../../support/listen.ts';
import { makeCertificate } from '../../support/certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-tls-'));
const file = (name: string): string => join(folder, name);

let proxy: Listening;
beforeAll(async () => {
  makeCertificate(folder, 'ca');
  makeCertificate(folder, 'server', 'ca', ['subjectAltName=DNS:temporal.test', 'basicConstraints=CA:FALSE']);
  makeCertificate(folder, 'client', 'ca', ['basicConstraints=CA:FALSE']);
  const [host, port] = sharedAddress().split(':');
  const pair = { key: readFileSync(file('server.key')), cert: readFileSync(file('server.pem')) };
  const clients = { ca: readFileSync(file('ca.pem')), requestCert: true, rejectUnauthorized: true };
  const server = createServer({ ...pair, ...clients, ALPNProtocols: ['h2'] }, (client) => {
    const far = connect(Number(port), host);
    client.pipe(far).pipe(client);
    for (const each of [client, far]) each.on('error', () => [client, far].map((socket) => socket.destroy()));
  });
  server.on('tlsClientError', () => undefined);
  proxy = await listen(server);
});
afterAll(async () => {
  await proxy.close();
  rmSync(folder, { recursive: true });
});

const own = (): string[] => ['--tls-cert-path', file('client.pem'), '--tls-key-path', file('client.key')];
const trust = (): string[] => ['--tls-ca-path', file('ca.pem'), '--tls-server-name', 'temporal.test'];

describe('TLS', () => {
  test('a client and a worker with the flags of `temporal`', async () => {
    const flags = ['--address', proxy.address, '--tls', ...own(), ...trust()];
    expect(await cli(['setup', ...flags])).toMatchObject({ code: 0, stderr: '' });
    const worker = startCli(['worker', agentsModule, '--task-queue', 'tls', ...flags]);
    await worker.shows('{"agents":["tester"]}');
    worker.child.kill('SIGTERM');
    expect((await worker.ended).code).toBe(0);
  });

  test('without what the server asks for: exit 6', async () => {
    const cases: Record<string, string[]> = {
      'no TLS': [],
      "no certificate of the client's": trust(),
      'no trusted authority': ['--tls', ...own(), '--tls-server-name', 'temporal.test'],
      'another name of the server': [...own(), ...trust(), '--tls-server-name', 'other.test'],
    };
    const results = Object.entries(cases).map(async ([name, flags]) => {
      const { code, stderr } = await cli(['setup', '--address', proxy.address, ...flags], { env: noServer });
      return [name, code, stderr.slice(0, sentence.length)];
    });
    const sentence = `error: No Temporal server answered at ${proxy.address} in time:`;
    expect(await Promise.all(results)).toEqual(Object.keys(cases).map((name) => [name, 6, sentence]));
  });

  test('a profile of a configuration file', async () => {
    const config = file('temporal.toml');
    writeFileSync(
      config,
      `[profile.safe]\naddress = "${proxy.address}"\n[profile.safe.tls]\nserver_name = "temporal.test"\n` +
        `client_cert_path = "${file('client.pem')}"\nclient_key_path = "${file('client.key')}"\nserver_ca_cert_path = "${file('ca.pem')}"\n`,
    );
    const env = { TEMPORAL_ADDRESS: undefined };
    const chosen = ['--config-file', config, '--profile'];
    expect(await cli(['setup', ...chosen, 'safe'], { env })).toMatchObject({ code: 0, stderr: '' });
    expect(await cli(['setup', ...chosen, 'other'], { env })).toMatchObject({
      code: 6,
      stderr: "error: Temporal's environment configuration cannot be read: Profile 'other' not found in config data\n",
    });
  });
});

test('--api-key is sent, over TLS, and never printed', async () => {
  const asked: (string | undefined)[] = [];
  const server = createSecureServer({ key: readFileSync(file('server.key')), cert: readFileSync(file('server.pem')) });
  server.on('stream', (stream, headers) => {
    asked.push(headers.authorization);
    const unauthenticated = { 'grpc-status': '16', 'grpc-message': 'who are you' };
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...unauthenticated }, { endStream: true });
  });
  const { address, close } = await listen(server);
  const where = ['--address', address, ...trust()];
  const { code, stdout, stderr } = await cli(['setup', '--api-key', 'sesame', '--debug', ...where]);
  await close();
  expect([code, stdout, asked[0]]).toEqual([5, '', 'Bearer sesame']);
  expect(stderr).not.toContain('sesame');
});

test.each(['--config-file', '--tls-cert-path', '--tls-key-path', '--tls-ca-path'])(
  '%s: the file must exist',
  async (flag) => {
    expect(await cli(['setup', flag, file('none')])).toEqual({
      code: 2,
      stdout: '',
      stderr: `error: ${flag}: there is no file ${file('none')}.\n`,
    });
  },
);

test('the next command leads to the same server, without the key', () => {
  const options = { address: 'a:1', profile: "it's", apiKey: 'sesame', tls: true, tlsCaPath: 'ca.pem', json: true };
  const flags = `--address a:1 --profile 'it'\\''s' --tls --tls-ca-path ca.pem`;
  expect(nextCommand(options, 'show', 'run-1')).toBe(`countersign show run-1 ${flags}`);
});
