import { describe, expect, test } from 'vitest';
import { senderAddress } from '../../../packages/gateway/src/http/server/limits.ts';

describe('the address of a sender', () => {
  test.each([
    ['no proxy is trusted', [], '192.0.2.1', '203.0.113.7', '192.0.2.1'],
    ['the connection is a trusted proxy’s', ['192.0.2.1'], '192.0.2.1', '203.0.113.7', '203.0.113.7'],
    ['it is mapped into IPv6', ['192.0.2.0/24'], '::ffff:192.0.2.1', '203.0.113.7', '203.0.113.7'],
    ['the connection is somebody else’s', ['192.0.2.1'], '198.51.100.9', '203.0.113.7', '198.51.100.9'],
    ['the sender wrote more before it', ['10.0.0.0/8'], '10.1.1.1', '1.1.1.1, 203.0.113.7', '203.0.113.7'],
    ['two proxies follow one another', ['10.0.0.0/8'], '10.1.1.1', '1.1.1.1, 203.0.113.7, 10.2.2.2', '203.0.113.7'],
    ['the header is missing', ['10.0.0.0/8'], '10.1.1.1', undefined, '10.1.1.1'],
    ['the header has no address', ['10.0.0.0/8'], '10.1.1.1', 'unknown', '10.1.1.1'],
    ['IPv6', ['2001:db8::/32'], '2001:db8::1', '2001:db9::7', '2001:db9::7'],
  ])('%s', (_, trusted, peer, forwarded, sender) => {
    expect(senderAddress(trusted)(peer, forwarded)).toBe(sender);
  });

  test.each(['proxy.example.com', '10.0.0.0/33', '10.0.0.0/x', '10.0.0.0/8/8', ''])('%j is no proxy', (text) => {
    expect(() => senderAddress([text])).toThrow(/is not the address of a proxy/);
  });
});
