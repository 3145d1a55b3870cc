import { reviewersAt, type Requirement } from '../policy/ask-terms.ts';
import type { Panel } from '../people/entitlement.ts';
import type { Directory } from '../people/directory.ts';
import { openedAtMs } from './escalation.ts';
import type { RequestRecord, Directories } from './ledger-state.ts';
import type { PolicyLayers } from '../policy/policy.ts';

/** A request as far as it says who may answer it. */
export type Asked = Pick<RequestRecord, 'terms' | 'delegations'> & {
  request: Pick<RequestRecord['request'], 'requestedAt' | 'callerUserId'>;
};

/** Who may answer an open request at `atMs`: its requirements with the reviewers that were added until then. */
export function panelOf(record: Asked, directories: Directories, atMs: number): Panel {
  const { requirements, named, veto, verified, allowSelf } = record.terms;
  const waitedMs = atMs - openedAtMs(record);
  return {
    requirements: requirements.map((each) => ({
      ...each,
      reviewers: reviewersAt(each, waitedMs),
      directory: directoryOf(each, directories),
    })),
    named,
    veto,
    verified,
    allowSelf,
    callerUserId: record.request.callerUserId,
    delegations: record.delegations,
  };
}

/** Those by whose word groups are filled, of the policies of a run. */
export function directoriesOf({ ceiling, parents = [], run }: PolicyLayers): Directories {
  return {
    ...(ceiling?.directory && { ceiling: ceiling.directory }),
    ...(parents.length > 0 && { parents: parents.map(({ directory }) => directory) }),
    ...(run?.directory && { run: run.directory }),
  };
}

/** Its own layer's, else that of the nearest above: a layer below never fills a group that a layer above names. */
function directoryOf({ layer, parent = 0 }: Requirement, directories: Directories): Directory | undefined {
  const { ceiling, parents = [], run } = directories;
  if (layer === 'ceiling') return ceiling;
  const below = layer === 'parent' ? parents.slice(0, parent + 1) : [...parents, run];
  return below.findLast((directory) => directory !== undefined) ?? ceiling;
}
