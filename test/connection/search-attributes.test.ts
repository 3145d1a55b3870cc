import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Connection } from '@temporalio/client';
import {
  missingSearchAttributes,
  namespaceRetentionDays,
  registerSearchAttributes,
} from '../../src/connection/search-attributes.ts';
import { makeNamespace } from '../support/make-namespace.ts';
import { sharedAddress } from '../support/shared-server.ts';

const keyword = 2;
const keywordList = 7;

let connection: Connection;

beforeAll(async () => {
  connection = await Connection.connect({ address: sharedAddress() });
});

afterAll(() => connection.close());

/** Creates a namespace with only `attributes` registered. */
async function namespaceWith(attributes: Record<string, number> = {}): Promise<string> {
  const namespace = `attributes-${randomUUID()}`;
  await makeNamespace(namespace, 3);
  if (Object.keys(attributes).length > 0) {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: attributes });
  }
  return namespace;
}

describe('search attributes', () => {
  test('a new namespace lacks all three; after registering, none is missing', async () => {
    const namespace = await namespaceWith();
    const all = ['ApprovalIds', 'ApprovalTags', 'ApprovalDue'];
    expect(await missingSearchAttributes(connection, namespace)).toEqual(all);
    const freeSlots = { KEYWORD_LIST: 1, DATETIME: 2 };
    expect(await registerSearchAttributes(connection, namespace)).toEqual({ added: all, freeSlots });
    expect(await missingSearchAttributes(connection, namespace)).toEqual([]);
    expect(await registerSearchAttributes(connection, namespace)).toEqual({ added: [], freeSlots });
  });

  test('after registering, the inbox query is accepted at once', async () => {
    const namespace = await namespaceWith();
    const query = 'ApprovalIds IS NOT NULL AND ExecutionStatus = "Running"';
    await expect(connection.workflowService.countWorkflowExecutions({ namespace, query })).rejects.toThrow(
      /ApprovalIds/,
    );
    await registerSearchAttributes(connection, namespace);
    const { count } = await connection.workflowService.countWorkflowExecutions({ namespace, query });
    expect(count.toNumber()).toBe(0);
  });

  test('only what is missing is added', async () => {
    const namespace = await namespaceWith({ ApprovalTags: keywordList });
    expect(await registerSearchAttributes(connection, namespace)).toEqual({
      added: ['ApprovalIds', 'ApprovalDue'],
      freeSlots: { KEYWORD_LIST: 1, DATETIME: 2 },
    });
  });

  test('an attribute of another type is reported with both types', async () => {
    const namespace = await namespaceWith({ ApprovalIds: keyword });
    const refusal = {
      code: 'internal',
      message:
        `Namespace '${namespace}' has a search attribute ApprovalIds of type KEYWORD, but KEYWORD_LIST is needed: ` +
        'remove it there, or give another namespace with --namespace.',
    };
    await expect(missingSearchAttributes(connection, namespace)).rejects.toMatchObject(refusal);
    await expect(registerSearchAttributes(connection, namespace)).rejects.toMatchObject(refusal);
  });

  test('a namespace without a free slot is refused with the remedy', async () => {
    const namespace = await namespaceWith({ One: keywordList, Two: keywordList });
    await expect(registerSearchAttributes(connection, namespace)).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringMatching(/did not register ApprovalIds .* KEYWORD_?LIST.*search-attribute remove`\.$/i),
    });
  });

  test('if only its operator can register attributes, the error says so', async () => {
    const namespace = await namespaceWith();
    const permissionDenied = 7;
    const refusing = {
      workflowService: connection.workflowService,
      operatorService: Object.create(connection.operatorService, {
        addSearchAttributes: {
          value: () =>
            Promise.reject(Object.assign(new Error('no'), { code: permissionDenied, details: 'not permitted' })),
        },
      }) as Connection['operatorService'],
    };
    await expect(registerSearchAttributes(refusing, namespace)).rejects.toMatchObject({
      code: 'forbidden',
      message:
        'The server did not register ApprovalIds (KEYWORD_LIST), ApprovalTags (KEYWORD_LIST), ApprovalDue (DATETIME) ' +
        `in namespace '${namespace}': not permitted; ask its operator to add them.`,
    });
  });
});

describe('retention', () => {
  test('is read in days', async () => {
    expect(await namespaceRetentionDays(connection, await namespaceWith())).toBe(3);
    expect(await namespaceRetentionDays(connection, 'default')).toBe(30);
  });
});
