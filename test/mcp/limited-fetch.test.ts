import { afterAll, beforeAll, expect, test } from 'vitest';
import { limitedFetch } from '../../packages/mcp/src/server-connection.ts';
import { type HttpServiceInTest, openHttpService } from '../support/http-service.ts';

let service: HttpServiceInTest;
beforeAll(async () => {
  service = await openHttpService();
});
afterAll(() => service.stop());

test('an answer ends with an error after the limit', async () => {
  const post = async (body: string): Promise<string> => {
    service.answer = { status: 200, body };
    const answer = await limitedFetch(100)(service.url, { method: 'POST', body: '{}' });
    return answer.text();
  };
  expect(await post('x'.repeat(100))).toHaveLength(100);
  await expect(post('x'.repeat(101))).rejects.toThrow('more than 100 bytes');
});

test('no stream is opened by GET: nothing is sent', async () => {
  const { length } = service.requests;
  for (const init of [undefined, { method: 'GET' }]) {
    expect((await limitedFetch(100)(service.url, init)).status).toBe(405);
  }
  expect(service.requests).toHaveLength(length);
});
