import { describe, expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { findPythonSdk, readByPython } from './python-sdk.ts';
import type { RunInTest } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** Clients in other languages can read a run's search attributes, with and without open requests. */

const world = forAllTests(() => openWorld());

const turns = (calls: number) => [
  ...Array.from({ length: calls }, (_, each) => ({ calls: [{ tool: 'pay', args: { to: `t${each}`, amount: 1 } }] })),
  { text: 'done' },
];

/** A run with one approved request and a second open one. */
async function secondOpen(): Promise<{ run: RunInTest; requestId: string }> {
  const run = await world.start(turns(2));
  const [first] = await run.open();
  await run.handle.executeUpdate('decide', { args: [{ requestId: first!.requestId, approved: true }] });
  const second = await eventually('the second request', async () => {
    const [open] = await run.open();
    return open!.requestId !== first!.requestId && open;
  });
  return { run, requestId: second.requestId };
}

async function ended(): Promise<RunInTest> {
  const { run, requestId } = await secondOpen();
  await run.handle.executeUpdate('decide', { args: [{ requestId, approved: false }] });
  await run.result();
  return run;
}

/** Our search attributes as the server stores them. */
async function stored({ workflowId }: RunInTest): Promise<[name: string, type: string, value: unknown][]> {
  const { workflowExecutionInfo } = await world.client.session.connection.workflowService.describeWorkflowExecution({
    namespace: 'default',
    execution: { workflowId },
  });
  const text = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString();
  return Object.entries(workflowExecutionInfo!.searchAttributes!.indexedFields!)
    .filter(([name]) => name.startsWith('Approval'))
    .map(([name, { metadata, data }]): [string, string, unknown] => {
      expect(text(metadata!['encoding'])).toBe('json/plain');
      return [name, text(metadata!['type']), JSON.parse(text(data))];
    })
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/**
 * How other SDKs read them. Python parses each Datetime value from text and raises for anything else
 * (`temporalio/converter/_search_attributes.py`). Go reads it into a time, and null leaves the year 1
 * (`internal/internal_search_attributes.go`). Only an absent attribute is unset for all of them. The server removes an
 * attribute for `binary/null` and for an empty JSON list, but not for a JSON null (`common/payload/payload.go`).
 */
describe('as the server stores them', () => {
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

  test('with an open request: two lists and a time', async () => {
    const { run, requestId } = await secondOpen();
    expect(await stored(run)).toEqual([
      ['ApprovalDue', 'Datetime', time],
      ['ApprovalIds', 'KeywordList', [requestId]],
      ['ApprovalTags', 'KeywordList', expect.arrayContaining(['tool:pay'])],
    ]);
    await run.handle.terminate();
  });

  test('without open requests: empty attributes are absent', async () => {
    const run = await ended();
    const tags = [expect.stringMatching(/^settled:/), expect.stringMatching(/^settled:/)];
    expect(await stored(run)).toEqual([['ApprovalTags', 'KeywordList', tags]]);
    const query = `WorkflowId = "${run.workflowId}" AND ApprovalIds IS NULL AND ApprovalDue IS NULL`;
    await eventually('the run in the list', async () => {
      const { count } = await world.client.session.client.workflow.count(query);
      return count === 1;
    });
  });

  test('of a run that opened no request: none', async () => {
    const run = await world.start([{ text: 'done' }]);
    await run.result();
    expect(await stored(run)).toEqual([]);
  });
});

const python = findPythonSdk();
if (python === undefined) {
  process.stderr.write(
    'other-clients.test.ts: skipped in part, because python3 has no temporalio here (COUNTERSIGN_TEST_PYTHON)\n',
  );
}

(python === undefined ? describe.skip : describe)('read by the Python SDK (needs python3 with temporalio)', () => {
  test('with an open request', async () => {
    const { run, requestId } = await secondOpen();
    const { described, untyped } = await readByPython(python!, run.workflowId);
    expect(described).toMatchObject({ ApprovalIds: [requestId], ApprovalDue: expect.stringMatching(/^\d{4}-/) });
    expect(untyped).toMatchObject({ ApprovalIds: [requestId], ApprovalDue: [expect.stringMatching(/^\d{4}-/)] });
    await run.handle.terminate();
  });

  test('without open requests: described and listed without them', async () => {
    const run = await ended();
    const read = await eventually('the run in the list', async () => {
      const each = await readByPython(python!, run.workflowId);
      return each.listed.some((row) => !('ApprovalIds' in row)) && each;
    });
    for (const attributes of [read.described, read.untyped, ...read.listed]) {
      expect(Object.keys(attributes).filter((name) => name.startsWith('Approval'))).toEqual(['ApprovalTags']);
    }
  });
});
