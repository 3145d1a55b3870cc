import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { layOutExamples } from '../../support/api/example-folder.ts';
import { type ExampleStage, openExampleStage } from '../../support/api/example-stage.ts';
import { printedBy } from '../../support/api/examples.ts';
import { printsOf } from '../../support/api/run-example.ts';

/** Runs the examples of docs/api.md that need a server, as files of a project that has the package installed. */

const folder = mkdtempSync(join(tmpdir(), 'countersign-examples-'));
const { examples, path } = layOutExamples(folder);
const ofKind = (wanted: string) => examples.filter(({ kind }) => kind === wanted);
let stage: ExampleStage;

beforeAll(async () => {
  const payloads = join(folder, 'payloads');
  mkdirSync(payloads);
  stage = await openExampleStage(path, payloads);
});
afterEach(() => stage.clearInbox());
afterAll(async () => {
  await stage.close();
  rmSync(folder, { recursive: true, force: true });
});

test.each(ofKind('server').map((each) => [each.title, each] as const))(
  '%s prints what it says',
  async (_title, { file, code }) => {
    if (/(?:approvals|workflow)\.list\(|approvalQueue\(/.test(code)) await stage.openRequest();
    const said = printedBy(code);
    expect(said).not.toEqual([]);
    expect(await printsOf(join(path, file))).toEqual(said);
  },
);

type Expected = [
  workflow: string,
  argument: string,
  decision: { approved: boolean; reason?: string } | undefined,
  unknown,
];
const denied = { approved: false, reason: 'No receipt' };

/** The workflows of the examples, and what they return. */
const workflows: Record<string, Expected> = {
  agentRun: ['askClerk', 'Where is order 7?', undefined, 'It is on its way.'],
  ApprovalGate: ['returnOrder', 'o-17', { approved: true }, 'refunded o-17'],
  forModel: ['refundForModel', 'o-17', denied, 'Denied: No receipt'],
  gateRefusal: ['refundOrExplain', 'o-17', denied, 'refund is denied: No receipt'],
};

test.each(ofKind('workflow').map(({ title }) => title))('the workflow of %s runs on a worker', async (title) => {
  expect(workflows).toHaveProperty(title);
  const [workflow, argument, decision, result] = workflows[title]!;
  expect(await stage.runWorkflow(workflow, argument, decision)).toEqual(result);
});

test('the page has examples of each kind', () => {
  expect(ofKind('server').length).toBeGreaterThan(10);
  expect(
    ofKind('workflow')
      .map(({ title }) => title)
      .toSorted(),
  ).toEqual(Object.keys(workflows).toSorted());
});
