import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { permissions } from '../../../src/adapters/http/permissions.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';

interface Document {
  openapi: string;
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, { description: string }> }>>;
  components: { schemas: Record<string, object> };
}

let world: GatewayWorld;
let document: Document;
beforeAll(async () => {
  world = await openGatewayWorld({ worker: false });
  document = (await (await world.call('GET', '/openapi.json')).json()) as Document;
});
afterAll(() => world.close());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, ...operation })),
  );

test('it is OpenAPI 3.1, and every route in it has a permission', () => {
  expect(document.openapi).toBe('3.1.0');
  const names = operations().map(({ name }) => name);
  expect(names.filter((name) => !Object.hasOwn(permissions, name))).toEqual([]);
  expect(names).toContain('POST /approve/{requestId}');
});

test('ids of operations are unique, every answer is described, and every reference leads somewhere', () => {
  const ids = operations().map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { responses } of operations()) {
    expect(Object.keys(responses)).toContain('default');
    for (const { description } of Object.values(responses)) expect(description).not.toBe('');
  }
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
  expect(references.length).toBeGreaterThan(20);
  for (const [, name] of references) expect(Object.keys(document.components.schemas)).toContain(name);
});

test('a body takes no member that the document does not have', () => {
  const { DecisionBody } = document.components.schemas;
  expect(DecisionBody).toMatchObject({ type: 'object', required: ['approved'], additionalProperties: false });
});
