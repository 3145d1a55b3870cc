import { personKey, queryNames, queryRun } from 'countersign/adapter';
import { isProblemError } from 'countersign/base';
import type { Policy } from 'countersign/policy';
import type { GatewayContext } from '../gateway-context.ts';
import type { RequestPeople } from './api.ts';

const mostPeople = 2_000;

type Known = RequestPeople['people'][number];

/**
 * The people who can get a seat in the requests of a run: those of the directories of its policies, and the reviewers
 * of the identity file. Not complete if an identity provider knows others, or if the run cannot be asked.
 */
export async function requestPeople(
  { client, identity }: Pick<GatewayContext, 'client' | 'identity'>,
  workflowId: string,
): Promise<RequestPeople> {
  const ofRun = await directoryOf(client, workflowId);
  const ofGateway = (identity?.reviewers ?? []).map(({ id, groups }) => ({ id, groups: [...groups] }));
  // A directory knows a name, too.
  const known = new Map([...ofGateway, ...(ofRun ?? [])].map((person) => [personKey(person.id), person]));
  const people = [...known.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const isComplete =
    ofRun !== undefined && identity?.openId === undefined && people.length > 0 && people.length <= mostPeople;
  return { people: people.slice(0, mostPeople), isComplete };
}

/** Undefined: the run cannot be asked. */
async function directoryOf(client: GatewayContext['client'], workflowId: string): Promise<Known[] | undefined> {
  try {
    const policies = await queryRun<{ ceiling?: Policy; run?: Policy } | null>(
      client.session,
      workflowId,
      queryNames.policy,
    );
    return [policies?.ceiling, policies?.run].flatMap((layer) =>
      Object.entries(layer?.directory?.people ?? {}).map(([id, { name, groups }]) => ({
        id,
        ...(name !== undefined && { name }),
        groups: [...groups],
      })),
    );
  } catch (error) {
    if (isProblemError(error)) return undefined;
    throw error;
  }
}
