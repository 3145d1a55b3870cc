import { createHash } from 'node:crypto';
import type { JsonObject } from '../../core/base/tool-call.ts';
import { isObject } from '../../core/base/json.ts';
import { grpcStatus, grpcStatusOf } from '../../connection/server-error.ts';
import type { Session } from './session.ts';

/**
 * The name of a record: a small fact that outlives a gateway. A record is the memo of a workflow on a task queue
 * without workers; it has two events, and lasts until it is terminated. Everyone who can start workflows can write one,
 * so a reader must verify that its own side signed or sealed the value.
 */
export interface RecordName {
  /** The kind of fact, such as `slack-user`. */
  kind: string;
  /** The owner of the record, such as a person or an account. */
  owner: string;
  /** Distinguishes several records of an owner. Default: there is only one. */
  id?: string;
}

const recordType = 'countersignRecord';
const recordQueue = 'countersign-records';
const memoKey = 'record';
const prefix = 'countersign-record';

/** A record in a list. The server stores only digests of ids, so `isOf` compares. */
export interface ListedRecord {
  value: JsonObject;
  /** True if this is the id of the record. */
  isOf: (id: string) => boolean;
}

/** Reads and writes records of one namespace, for code that has no connection. */
export interface Records {
  /** The namespace. A sealed value must be bound to it. */
  readonly namespace: string;
  /** Writes a record, and replaces an earlier one of this name. */
  put(name: RecordName, value: JsonObject): Promise<void>;
  /** Reads a record; undefined if there is none of this name. */
  get(name: RecordName): Promise<JsonObject | undefined>;
  /** Lists the records of one kind and owner, in no order. A recent one may be missing. */
  list(name: Omit<RecordName, 'id'>): Promise<ListedRecord[]>;
  /** Removes a record; does nothing if there is none of this name. */
  remove(name: RecordName): Promise<void>;
}

/** Returns the records of the session's namespace. */
export function recordsOf(session: Session): Records {
  return {
    namespace: session.namespace,
    put: (name, value) => putRecord(session, name, value),
    get: (name) => getRecord(session, name),
    list: (name) => listRecords(session, name),
    remove: (name) => removeRecord(session, name),
  };
}

/** Writes a record, and replaces an earlier one of this name. Throws the server's errors unchanged. */
export async function putRecord({ client }: Session, name: RecordName, value: JsonObject): Promise<void> {
  await client.workflow.start(recordType, {
    workflowId: workflowIdOf(name),
    taskQueue: recordQueue,
    memo: { [memoKey]: value },
    workflowIdConflictPolicy: 'TERMINATE_EXISTING',
  });
}

/** Reads a record; undefined if there is none of this name. A removed or replaced record is no longer running. */
export async function getRecord({ client }: Session, name: RecordName): Promise<JsonObject | undefined> {
  try {
    const { memo, status } = await client.workflow.getHandle(workflowIdOf(name)).describe();
    return status.name === 'RUNNING' ? recordValue(memo) : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Lists the records of one kind and owner, in no order. Visibility lags, so a recent one may be missing. */
export async function listRecords(
  { client }: Session,
  { kind, owner }: Omit<RecordName, 'id'>,
): Promise<ListedRecord[]> {
  const query = `WorkflowType = "${recordType}" AND ExecutionStatus = "Running" AND WorkflowId STARTS_WITH "${prefixOf({ kind, owner })}"`;
  const records: ListedRecord[] = [];
  for await (const { memo, workflowId } of client.workflow.list({ query })) {
    const value = recordValue(memo);
    if (value !== undefined) records.push({ value, isOf: (id) => workflowIdOf({ kind, owner, id }) === workflowId });
  }
  return records;
}

export async function removeRecord({ client }: Session, name: RecordName): Promise<void> {
  try {
    await client.workflow.getHandle(workflowIdOf(name)).terminate('removed');
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Names of people and accounts may be long, secret or full of odd characters, so the workflow id has their digests. */
function workflowIdOf({ id = '', ...rest }: RecordName): string {
  return `${prefixOf(rest)}${digest(id)}`;
}

function prefixOf({ kind, owner }: Omit<RecordName, 'id'>): string {
  return `${prefix}:${kind}:${digest(owner)}:`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

function recordValue(memo: Record<string, unknown> | undefined): JsonObject | undefined {
  const value = memo?.[memoKey];
  return isObject(value) ? (value as JsonObject) : undefined;
}

function isNotFound(error: unknown): boolean {
  const cause = error instanceof Error ? error : undefined;
  return cause?.name === 'WorkflowNotFoundError' || grpcStatusOf(error) === grpcStatus.NOT_FOUND;
}
