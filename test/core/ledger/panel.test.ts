import { expect, test } from 'vitest';
import type { AskTerms, Requirement } from '../../../src/core/policy/ask-terms.ts';
import type { Directory } from '../../../src/core/people/directory.ts';
import { escalatedBy } from '../../../src/core/ledger/escalation.ts';
import { directoriesOf, panelOf } from '../../../src/core/ledger/panel.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';

/** Which directory defines a group: that of its own layer, else the nearest one above, never one below. */

const naming = (name: string): Directory => ({ people: { [name]: { groups: ['all'], keys: [] } } });
const policy = (directory?: Directory): Policy => ({
  version: 1,
  rules: [],
  riskDefaults: {},
  approval: {},
  ...(directory && { directory }),
});
const [ceiling, root, parent, run] = ['ceiling', 'root', 'parent', 'run'].map(naming) as [
  Directory,
  Directory,
  Directory,
  Directory,
];

test.each<[string, Pick<Requirement, 'layer' | 'parent'>, (Directory | undefined)[], Directory | undefined]>([
  ['the ceiling’s own', { layer: 'ceiling' }, [ceiling, root, parent, run], ceiling],
  ['the ceiling has none', { layer: 'ceiling' }, [undefined, root, parent, run], undefined],
  ['the run’s own', { layer: 'run' }, [ceiling, root, parent, run], run],
  ['the run’s is its parent’s', { layer: 'run' }, [ceiling, root, parent, undefined], parent],
  ['or that of the one above it', { layer: 'run' }, [ceiling, root, undefined, undefined], root],
  ['or the ceiling’s', { layer: 'run' }, [ceiling, undefined, undefined, undefined], ceiling],
  ['a parent’s own', { layer: 'parent', parent: 1 }, [ceiling, root, parent, run], parent],
  ['a parent’s is the root’s', { layer: 'parent', parent: 1 }, [ceiling, root, undefined, run], root],
  ['the root’s is never its child’s', { layer: 'parent', parent: 0 }, [undefined, undefined, parent, run], undefined],
])('%s', (_, of, [ofCeiling, ofRoot, ofParent, ofRun], expected) => {
  const requirement = { ...of, reviewers: ['group:all'], quorum: 1, oneOfEach: [], escalate: [] };
  const record = {
    terms: { requirements: [requirement] } as unknown as AskTerms,
    delegations: [],
    request: { requestedAt: '2030-01-01T00:00:00.000Z', callerUserId: null },
  };
  const directories = directoriesOf({
    ceiling: policy(ofCeiling),
    parents: [policy(ofRoot), policy(ofParent)],
    run: policy(ofRun),
  });
  expect(panelOf(record, directories, 0).requirements[0]!.directory).toBe(expected);
});

test.each<[string, Partial<Requirement>[], number, [number, string[]][]]>([
  ['before the first step, nobody', [{ reviewers: ['ann'], escalate: [{ afterMs: 10, to: ['cfo'] }] }], 9, []],
  ['at its time, the step', [{ reviewers: ['ann'], escalate: [{ afterMs: 10, to: ['cfo'] }] }], 10, [[10, ['cfo']]]],
  [
    'steps in order, each name once',
    [
      { reviewers: ['ann'], escalate: [{ afterMs: 20, to: ['cfo', 'ann', 'bob'] }] },
      {
        reviewers: ['bob'],
        escalate: [
          { afterMs: 10, to: ['eve'] },
          { afterMs: 30, to: ['eve'] },
        ],
      },
    ],
    99,
    [
      [10, ['eve']],
      [20, ['cfo']],
    ],
  ],
  ['nobody where anyone may answer', [{ reviewers: [], escalate: [{ afterMs: 1, to: ['cfo'] }] }], 99, []],
])('added by escalation: %s', (_, requirements, waitedMs, expected) => {
  const all = requirements.map((each) => ({ layer: 'run' as const, quorum: 1, oneOfEach: [], ...each }));
  const requestedAt = '2030-01-01T00:00:00.000Z';
  const record = { terms: { requirements: all }, request: { requestedAt } } as unknown as Parameters<
    typeof escalatedBy
  >[0];
  const openedMs = Date.parse(requestedAt);
  expect(escalatedBy(record, openedMs + waitedMs)).toEqual(
    expected.map(([afterMs, to]) => ({ at: new Date(openedMs + afterMs).toISOString(), to })),
  );
});
