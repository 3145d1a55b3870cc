import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { rawRequest } from './raw-request.ts';
import { openGatewayWorld } from '../../support/gateway-world.ts';

test('a text from elsewhere in the log is visible, and begins no line', async () => {
  const lines: string[] = [];
  const authenticator = {
    authenticate: (request: Request): Promise<undefined> =>
      Promise.reject(new Error(`no ${decodeURIComponent(request.headers.get('x-text') ?? '')}`)),
  };
  const world = await openGatewayWorld({ worker: false }, { authenticator, log: (line) => lines.push(line) });
  try {
    const headers = { 'x-text': encodeURIComponent('\u001B[2J\nGranted: eve') };
    const { status, text } = await rawRequest(`${world.gateway.url}/me`, { headers });
    expect([status, text]).toEqual([500, expect.not.stringContaining('Granted')]);
    expect(lines.join('\n')).toContain('\\u{001B}[2J');
    expect(lines.join('\n').split('\n')).not.toContain('Granted: eve');
  } finally {
    await world.close();
  }
});

test('a stranger writes nothing into the log by a body that cannot be read', async () => {
  const lines: string[] = [];
  const world = await openGatewayWorld({ worker: false }, { log: (line) => lines.push(line) });
  try {
    const headers = { 'content-type': 'application/json' };
    const { status } = await rawRequest(`${world.gateway.url}/login/token`, { method: 'POST', headers, body: '{' });
    expect([status, lines]).toEqual([422, []]);
  } finally {
    await world.close();
  }
});

test.each(['/login/token', '/runs', '/approvals/decide', `/channels/hook/answers/${'0'.repeat(32)}`])(
  'an upload to %s that is broken off is one line in the log',
  async (path) => {
    const lines: string[] = [];
    const receive = (): never => expect.unreachable();
    const world = await openGatewayWorld(
      { worker: false },
      { log: (line) => lines.push(line), channels: { hook: { receive } } },
    );
    try {
      const { hostname, port } = new URL(world.gateway.url);
      const socket = connect(Number(port), hostname);
      await new Promise((resolve) => socket.once('connect', resolve));
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"a":`,
      );
      // The gateway reads the body once it has the head.
      await world.call('GET', '/healthz');
      socket.destroy();
      await eventually('it is logged', () => Promise.resolve(lines.length > 0));
      expect(lines).toEqual([expect.stringMatching(/^A sender broke off POST \/\S+\.$/)]);
    } finally {
      await world.close();
    }
  },
);
