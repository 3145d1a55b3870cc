import { callServer } from '../server/call-server.ts';
import type { Session } from '../server/connect.ts';
import { listedExecutions } from '../server/listed-executions.ts';
import { describeRun, settledIdsIn } from '../server/memo-rows.ts';

const pageSize = 250;
const mostPages = 4;

/**
 * The ids that start with these characters among the last 20 settled requests of a run, or of each of the newest 1,000
 * executions that asked: visibility finds whole ids only. Anyone who may start a workflow can write such ids, so that one
 * is a name to look for, and no proof. A namespace without tags has none.
 */
export async function settledIds(
  session: Session,
  { startsWith, workflowId }: { startsWith: string; workflowId?: string | undefined },
): Promise<string[]> {
  const listed = workflowId === undefined ? await ofNewest(session) : await ofRun(session, workflowId);
  return [...new Set(listed.filter((id) => id.startsWith(startsWith)))];
}

async function ofRun(session: Session, workflowId: string): Promise<string[]> {
  return (await callServer(session, () => describeRun(session, workflowId), { workflowId })).settledIds;
}

async function ofNewest(session: Session): Promise<string[]> {
  const { tags } = session.attributes;
  if (tags === null) return [];
  const ids: string[] = [];
  let pages = 0;
  for await (const page of listedExecutions(session, { query: `${tags} IS NOT NULL`, pageSize })) {
    ids.push(...page.flatMap((row) => settledIdsIn(session, row)));
    if (++pages === mostPages) break;
  }
  return ids;
}
