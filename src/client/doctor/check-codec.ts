import type { Payload } from '@temporalio/common';
import { memoName } from '../../contract.ts';
import { counted } from '../../core/card/cut-text.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { readingRemedy } from '../../connection/server-error.ts';
import { callServer } from '../server/call-server.ts';
import { type Finding, fine, wrong } from './check.ts';
import type { Session } from '../server/connect.ts';
import { readPayload } from '../server/read-payload.ts';

/** The number of runs whose memos are tried. */
const runsTried = 50;

/** Checks that this client reads what the workers wrote, on the memos of runs that ask something. */
export async function checkCodec(session: Session): Promise<Finding> {
  const memos = await memosOf(session);
  if (memos.length === 0) return fine('No run asks anything now, so no codec could be tried.');
  let isPlain = false;
  for (const { workflowId, payload } of memos) {
    const value = await readPayload(session, payload);
    if (isUndecodable(value)) {
      return wrong(
        `The memo of run '${workflowId}' cannot be read: ${value.why}. ${readingRemedy}`,
        'countersign doctor --codec-endpoint URL',
      );
    }
    isPlain ||= Buffer.from(payload.metadata?.['encoding'] ?? []).toString() === 'json/plain';
  }
  if (session.hasCodecs && isPlain) {
    return wrong('This client has a codec, and some workers encode nothing: give them the same dataConverter.');
  }
  return fine(`The memos of ${counted(memos.length, 'run')} can be read.`);
}

async function memosOf(session: Session): Promise<{ workflowId: string; payload: Payload }[]> {
  const { connection, namespace, attributes } = session;
  const query = `${attributes.ids} IS NOT NULL`;
  const { executions } = await callServer(session, () =>
    connection.workflowService.listWorkflowExecutions({ namespace, query, pageSize: runsTried }),
  );
  return executions.flatMap(({ execution, memo }) => {
    const payload = memo?.fields?.[memoName];
    return payload == null ? [] : [{ workflowId: execution?.workflowId ?? '', payload }];
  });
}
