/** Search attributes on the server. Errors of the server pass unchanged: `callServer` converts them to sentences. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import type { AttributeNames, AttributeType, AttributeNameOptions } from '../core/base/attribute-names.ts';
import { attributeTypes, defaultAttributeNames, attributeNames } from '../core/base/attribute-names.ts';
import { ProblemError } from '../core/base/problem.ts';
import { grpcStatus, grpcStatusOf, serverWords } from './server-error.ts';
import { checkCallOptions } from '../text/check-call-options.ts';

/** The services that this module needs. A client's `Connection` and a worker's `NativeConnection` both have them. */
export type Services = Pick<Connection, 'operatorService' | 'workflowService'>;

/** The result of a registration of search attributes. */
export interface Registration {
  /** The names that this call registered; empty if all existed already. */
  added: string[];
  /** How many more attributes of each type the namespace allows; null if no limit is known. */
  freeSlots: Record<AttributeType, number | null>;
}

/** The number of columns that Temporal's SQL schemas reserve for custom attributes of each type. */
const sqlSlots: Record<AttributeType, number> = { KEYWORD_LIST: 3, DATETIME: 3 };

/** The names of Temporal's `IndexedValueType`, indexed by number. */
const typeNames = ['UNSPECIFIED', 'TEXT', 'KEYWORD', 'INT', 'DOUBLE', 'BOOL', 'DATETIME', 'KEYWORD_LIST'];

const usableTimeoutMs = 30_000;
const usablePollMs = 250;
const dayMs = 86_400_000;

/** Returns the names that are not registered. Throws `internal` if one is registered with another type. */
export async function missingSearchAttributes(
  connection: Services,
  namespace: string,
  names: AttributeNames = defaultAttributeNames,
): Promise<string[]> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  return Object.entries(attributeTypes(names)).flatMap(([name, needed]) => {
    const type = customAttributes?.[name];
    if (type === undefined) return [name];
    const found = typeNames[type] ?? String(type);
    if (found === needed) return [];
    throw new ProblemError({
      code: 'internal',
      message:
        `Namespace '${namespace}' has a search attribute ${name} of type ${found}, but ${needed} is needed: ` +
        `remove it there, or give another namespace with --namespace.`,
    });
  });
}

/**
 * Registers missing search attributes, and waits until the server accepts their names. Throws `forbidden` if clients
 * may not register attributes (as in Temporal Cloud), and `internal` if a type has no free slot.
 */
export async function registerSearchAttributes(
  connection: Services,
  namespace: string,
  names: AttributeNames = defaultAttributeNames,
): Promise<Registration> {
  const added = await missingSearchAttributes(connection, namespace, names);
  if (added.length > 0) {
    const types = attributeTypes(names);
    await addAttributes(connection, namespace, Object.fromEntries(added.map((name) => [name, types[name]!])));
    await untilUsable(connection, namespace, added);
  }
  return { added, freeSlots: await freeSlots(connection, namespace) };
}

/** Returns how many days `namespace` keeps closed runs. Older runs have no audit and no event stream any more. */
export async function namespaceRetentionDays(connection: Services, namespace: string): Promise<number> {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  return tsToMs(config?.workflowExecutionRetentionTtl) / dayMs;
}

/** Registers search attributes. If the server refuses, throws a `ProblemError` that says what the operator can do. */
async function addAttributes(
  connection: Services,
  namespace: string,
  types: Record<string, AttributeType>,
): Promise<void> {
  const attributes = Object.entries(types);
  const wanted = attributes.map(([name, type]) => `${name} (${type})`).join(', ');
  try {
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(attributes.map(([name, type]) => [name, typeNames.indexOf(type)])),
    });
  } catch (error) {
    const refused = (code: 'forbidden' | 'internal', remedy: string): ProblemError =>
      new ProblemError(
        {
          code,
          message: `The server did not register ${wanted} in namespace '${namespace}': ${serverWords(error)}; ${remedy}.`,
        },
        { cause: error },
      );
    switch (grpcStatusOf(error)) {
      case grpcStatus.PERMISSION_DENIED:
        throw refused('forbidden', 'ask its operator to add them');
      case grpcStatus.INVALID_ARGUMENT:
        throw refused('internal', 'remove one that is not used with `temporal operator search-attribute remove`');
      default:
        throw error;
    }
  }
}

/** Waits until queries may name new attributes: for some seconds, the server still refuses them as unknown. */
async function untilUsable(connection: Services, namespace: string, names: string[]): Promise<void> {
  const query = names.map((name) => `${name} IS NOT NULL`).join(' AND ');
  const deadline = performance.now() + usableTimeoutMs;
  for (;;) {
    try {
      await connection.workflowService.countWorkflowExecutions({ namespace, query });
      return;
    } catch (error) {
      if (grpcStatusOf(error) !== grpcStatus.INVALID_ARGUMENT || performance.now() > deadline) throw error;
    }
    await sleep(usablePollMs);
  }
}

/** Counts free slots; null without a limit. Only a SQL database has one, recognized by its aliases for attributes. */
async function freeSlots(connection: Services, namespace: string): Promise<Registration['freeSlots']> {
  const [{ config }, { customAttributes }] = await Promise.all([
    connection.workflowService.describeNamespace({ namespace }),
    connection.operatorService.listSearchAttributes({ namespace }),
  ]);
  const isSql = Object.keys(config?.customSearchAttributeAliases ?? {}).length > 0;
  const taken = Object.values(customAttributes ?? {}).map((type) => typeNames[type]);
  const left = (type: AttributeType): number | null =>
    isSql ? Math.max(0, sqlSlots[type] - taken.filter((other) => other === type).length) : null;
  return { KEYWORD_LIST: left('KEYWORD_LIST'), DATETIME: left('DATETIME') };
}

/** Returns the given names, those in `COUNTERSIGN_ATTRIBUTES`, or the defaults. Throws `internal` with one sentence. */
export function attributeNamesOf(
  given: AttributeNameOptions | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): AttributeNames {
  if (given !== undefined) checkCallOptions('attributes', given, { ids: true, tags: true, due: true }, 'internal');
  const names = attributeNames(given ?? readAttributeOptions(environment['COUNTERSIGN_ATTRIBUTES'] ?? ''));
  if (typeof names !== 'string') return names;
  const where = given === undefined ? 'COUNTERSIGN_ATTRIBUTES' : 'attributes';
  const remedy = given === undefined ? '; write it like ids=MyIds,tags=off,due=MyDue' : '';
  throw new ProblemError({ code: 'internal', message: `${where}: ${names}${remedy}.` });
}

/** Reads pairs such as `ids=MyIds,tags=off,due=MyDue`. `attributeNames` checks what it returns. */
function readAttributeOptions(text: string): AttributeNameOptions {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key = '', name = ''] = pair.split('=', 2).map((part) => part.trim());
      return [key, key === 'tags' && name === 'off' ? false : name];
    }),
  );
}
