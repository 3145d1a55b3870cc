import { expect, test } from 'vitest';
import { Hono } from 'hono';
import type { HttpEnv } from '../../../packages/gateway/src/http/gateway-context.ts';
import { limitConcurrency } from '../../../packages/gateway/src/http/server/rate-limit.ts';
import type { Principal } from '../../../packages/gateway/src/http/identity/principal.ts';
import { errorResponse } from '../../../packages/gateway/src/http/responses.ts';

test('one person has so many requests under way, and another is not held up', async () => {
  const app = new Hono<HttpEnv>();
  const limit = limitConcurrency(2);
  const held = Promise.withResolvers<void>();
  app.onError((error) => errorResponse(error));
  app.use(async (context, next) => {
    const [id, via = 'token'] = context.req.query('who')!.split(':') as [string, Principal['via']?];
    context.set('principal', { id, key: id, via, roles: [], groups: [] });
    return limit(context, next);
  });
  app.get('/', async (context) => {
    await held.promise;
    return context.text('done');
  });
  app.get('/now', (context) => context.text('done'));
  const status = async (path: string): Promise<number> => (await app.request(path)).status;
  const first = [status('/?who=eve'), status('/?who=eve')];
  const local = [1, 2, 3].map(() => status('/?who=me:local'));
  expect(await status('/now?who=eve')).toBe(429);
  expect(await status('/now?who=ann')).toBe(200);
  held.resolve();
  expect(await Promise.all([...first, ...local])).toEqual([200, 200, 200, 200, 200]);
  expect(await status('/now?who=eve')).toBe(200);
});
