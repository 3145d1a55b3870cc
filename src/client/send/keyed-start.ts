import { createHash } from 'node:crypto';
import type { RunInput } from '../../contract.ts';
import { canonicalJson } from '../../core/base/canonical-json.ts';
import { ProblemError } from '../../core/base/problem.ts';
import type { Json } from '../../core/base/tool-call.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { readingRemedy } from '../../connection/server-error.ts';
import type { Session } from '../server/connect.ts';
import { readPayload } from '../server/read-payload.ts';
import { parseJson } from '../../core/base/json.ts';

/** Memo: the digest of what a caller's key has started. */
export const startMemoName = 'approvalStart';

export interface KeyedStart {
  workflowId: string;
  /** 64 hex characters of the key and what it is to start: without the key, nobody can find the input by trying. */
  inputDigest: string;
}

const longestKey = 1_000;

/** The workflow id of a caller's key, and the digest of what it is to start. Throws `internal` for an invalid key. */
export function keyedStart(
  { idempotencyKey, workflowId }: { idempotencyKey?: string; workflowId?: string },
  input: RunInput,
): KeyedStart {
  if (workflowId !== undefined) {
    throw refused('a run has a workflowId or an idempotencyKey, not both: the key becomes the id');
  }
  const isSound = typeof idempotencyKey === 'string' && idempotencyKey !== '' && idempotencyKey.length <= longestKey;
  if (!isSound) throw refused(`an idempotencyKey is a text of 1 to ${longestKey} characters`);
  // Undefined members are not sent, so they are no difference.
  const sent = parseJson(JSON.stringify(input)) as Json;
  return {
    workflowId: `key-${sha256(idempotencyKey).slice(0, 40)}`,
    inputDigest: sha256(canonicalJson([idempotencyKey, sent])),
  };
}

/**
 * Returns if the run under this id was started by the same key with the same input; throws `already_started` else. The
 * memo is what the starter wrote, so it says nothing about who that was: it only keeps a key from meaning two things.
 */
export async function requireSameStart(session: Session, start: KeyedStart, cause: unknown): Promise<void> {
  const { connection, namespace } = session;
  const { workflowId, inputDigest } = start;
  // A run takes its memo along when it continues as new.
  const run = await connection.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } });
  const payload = run.workflowExecutionInfo?.memo?.fields?.[startMemoName];
  const value = payload == null ? undefined : await readPayload(session, payload);
  if (value === inputDigest) return;
  if (isUndecodable(value)) {
    const message = `This idempotency key has started run '${workflowId}', and what it has started cannot be read here: ${value.why}. ${readingRemedy}`;
    throw new ProblemError({ code: 'undecodable', message }, { cause });
  }
  throw new ProblemError(
    {
      code: 'already_started',
      message: `This idempotency key has started run '${workflowId}' with another agent, input or options: use a new key for a new run.`,
    },
    { cause },
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function refused(message: string): ProblemError {
  return new ProblemError({ code: 'internal', message });
}
