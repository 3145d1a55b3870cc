import { expect, test } from 'vitest';
import { rawRequest } from '../../support/raw-request.ts';
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
