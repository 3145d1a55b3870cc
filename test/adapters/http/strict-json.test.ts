import { expect, test } from 'vitest';
import { Hono } from 'hono';
import { validator } from 'hono/validator';
import type { HttpEnv } from '../../../packages/gateway/src/http/gateway-context.ts';
import { strictJson } from '../../../packages/gateway/src/http/shapes/define-route.ts';

/** Answers with the keys of the arguments in a body, as the handler of a route gets them. */
const app = new Hono<HttpEnv>().post(
  '/',
  strictJson,
  validator('json', (body: { modifiedArguments?: object }) => body),
  (context) => context.json(Object.keys(context.req.valid('json').modifiedArguments ?? {})),
);
const keysRead = async (body: string): Promise<unknown> =>
  (await app.request('/', { method: 'POST', headers: { 'content-type': 'application/json' }, body })).json();

test('a key with an escape is read right after a text that misleads the engine (decision 52)', async () => {
  JSON.parse(String.raw`{"approved":true,"modifiedArguments":{"to":1,"size 5\\":1}}`);
  const body = String.raw`{"approved":true,"modifiedArguments":{"to":1,"size 5\"":1}}`;
  expect(await keysRead(body)).toEqual(['to', 'size 5"']);
});

test('a body that is empty is read as an empty object', async () => {
  expect(await keysRead('')).toEqual([]);
});
