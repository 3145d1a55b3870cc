/** Errors of the connection are thrown as the SDK throws them: wrap a call in `callServer` to get sentences. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import {
  type AttributeNames,
  type AttributeType,
  attributeTypes,
  defaultAttributeNames,
  type AttributeNameOptions,
  attributeNames,
} from '../core/base/attribute-names.ts';
import { ProblemError } from '../core/base/problem.ts';
import { grpcStatus, grpcStatusOf, serverWords } from './server-error.ts';
import { checkCallOptions } from '../text/check-call-options.ts';

/** The services that are needed here; a client's `Connection` and a worker's `NativeConnection` both have them. */
export type Services = Pick<Connection, 'operatorService' | 'workflowService'>;

/** The result of a registration of search attributes. */
export interface Registration {
  /** Names that this call registered; empty if all existed already. */
  added: string[];
  /** How many more attributes of each type the namespace allows; null if its store has no limit that can be read. */
  freeSlots: Record<AttributeType, number | null>;
}

/** Columns that Temporal's SQL schemas reserve for custom attributes, unless the operator changed the schemas. */
const sqlSlots: Record<AttributeType, number> = { KEYWORD_LIST: 3, DATETIME: 3 };

/** The names of Temporal's `IndexedValueType`, indexed by number. */
const typeNames = ['UNSPECIFIED', 'TEXT', 'KEYWORD', 'INT', 'DOUBLE', 'BOOL', 'DATETIME', 'KEYWORD_LIST'];

const usableTimeoutMs = 30_000;
const usablePollMs = 250;
const dayMs = 86_400_000;

/** Throws `internal` if an attribute exists with another type, which registering cannot repair. */
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
 * Registers what is missing, and waits until the server accepts the names. Throws `forbidden` if the server does not
 * let clients register attributes (as in Temporal Cloud), and `internal` if a type has no free slot.
 */
export async function registerSearchAttributes(
  connection: Services,
  namespace: string,
  names: AttributeNames = defaultAttributeNames,
): Promise<Registration> {
  const added = await missingSearchAttributes(connection, namespace, names);
  if (added.length > 0) {
    const types = attributeTypes(names);
    await add(connection, namespace, Object.fromEntries(added.map((name) => [name, types[name]!])));
    await untilUsable(connection, namespace, added);
  }
  return { added, freeSlots: await freeSlots(connection, namespace) };
}

/** How many days `namespace` keeps closed runs. Audits and event streams of older runs are gone. */
export async function namespaceRetentionDays(connection: Services, namespace: string): Promise<number> {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  return tsToMs(config?.workflowExecutionRetentionTtl) / dayMs;
}

/** Registers search attributes. Throws a `ProblemError` that says what the operator can do if the server refuses. */
async function add(connection: Services, namespace: string, types: Record<string, AttributeType>): Promise<void> {
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

/** The frontend caches a namespace for some seconds and reports a new attribute as unknown until then. */
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

/** In a SQL store a namespace maps its attributes to names of columns; other stores have no such map. */
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

/** The given names, else those in `COUNTERSIGN_ATTRIBUTES`, else the defaults. Throws `internal` with one sentence. */
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

function readAttributeOptions(text: string): AttributeNameOptions {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key = '', name = ''] = pair.split('=', 2).map((part) => part.trim());
      return [key, key === 'tags' && name === 'off' ? false : name];
    }),
  );
}
