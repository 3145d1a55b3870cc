import { afterAll, beforeAll, expect, test } from 'vitest';
import { permissions } from '../../../packages/gateway/src/http/identity/principal.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';

interface Operation {
  operationId: string;
  responses: Record<string, { description: string }>;
  security?: object[];
  parameters?: object[];
}

interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; securitySchemes: object };
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

test('it says which credentials an operation takes, where a stream goes on, and has nothing that is empty', () => {
  const all = new Map(operations().map((operation) => [operation.name, operation]));
  const credentials = [{ bearer: [] }, { session: [] }];
  expect(Object.keys(document.components.securitySchemes)).toEqual(['bearer', 'session']);
  expect(all.get('POST /approve/{requestId}')!.security).toEqual(credentials);
  expect(all.get('GET /healthz')!.security).toEqual([]);
  expect(all.get('GET /runs/{id}/events')!.parameters).toContainEqual(
    expect.objectContaining({ in: 'header', name: 'last-event-id', required: false }),
  );
  expect(all.get('POST /login/token')!.responses).toHaveProperty('401');
  expect(document).not.toHaveProperty('webhooks');
});

test('a body takes no member that the document does not have', () => {
  const { DecisionBody } = document.components.schemas;
  expect(DecisionBody).toMatchObject({ type: 'object', required: ['approved'], additionalProperties: false });
});
