/** A process in which `replayServer` replays the histories of a server. Prints its report as JSON. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { defaultPayloadConverter } from '@temporalio/common';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { temporal } from '@temporalio/proto';
import { DefaultLogger, Runtime, Worker, makeTelemetryFilterString } from '@temporalio/worker';
import { evidenceOf } from '../../src/client/audit/evidence-of.ts';
import { readExecutions } from './read-histories.ts';
import { connect, type Session } from '../../src/client/server/session.ts';
import { verifyEvidence } from '../../src/audit/verify-evidence.ts';
import { EncryptionCodec } from '../../src/codec.ts';
import { grpcStatus, grpcStatusOf } from '../../src/connection/server-error.ts';
import { buildOf, mayHold, type BuiltBundle } from './built-bundle.ts';
import { nondeterminism } from './nondeterminism.ts';
import type { PartReport, ReplayBundle, ReplayPart } from './replay-server.ts';

type History = temporal.api.history.v1.IHistory;
type ListedExecution = temporal.api.workflow.v1.IWorkflowExecutionInfo;

interface Execution {
  session: Session;
  workflowId: string;
  runId: string;
  type: string;
  /** Identifies the bundle of the worker that completed its last task; undefined if no task was completed. */
  buildId: string | undefined;
}

const options = JSON.parse(process.argv[2]!) as ReplayPart;
/** Git ignores the default. */
const { keepIn = fileURLToPath(new URL('../failed-replays', import.meta.url)) } = options;
/** The tests with encrypted payloads use these keys. */
const dataConverter = process.env['COUNTERSIGN_KEYS'] === undefined ? {} : { payloadCodecs: [new EncryptionCodec()] };
const given = await text(process.stdin);
// The parent was killed.
if (given === '') process.exit(1);
let isLoggerInstalled = false;
const report: PartReport = {
  listed: 0,
  replayed: 0,
  skipped: {},
  failed: [],
  rulings: { agreed: 0, differing: [], notReRuled: {} },
  seconds: 0,
  left: {},
};
const sessions = new Map<string, Session>();
try {
  const startedMs = performance.now();
  await replayAll(JSON.parse(given) as ReplayBundle[]);
  report.seconds = Math.round((performance.now() - startedMs) / 100) / 10;
} finally {
  for (const { connection } of sessions.values()) await connection.close();
}
process.stdout.write(JSON.stringify(report));

async function replayAll(all: readonly ReplayBundle[]): Promise<void> {
  const waiting = new Map<string, Execution[]>();
  for await (const execution of executionsOfAll()) {
    if (isOfPart(execution)) report.listed++;
    if (execution.buildId !== undefined) {
      waiting.set(execution.buildId, [...(waiting.get(execution.buildId) ?? []), execution]);
    } else if (isOfPart(execution)) skip('no worker completed a task of it');
  }
  for (const [index, bundle] of all.entries()) {
    const isMade = 'codePath' in bundle;
    if (!isMade && index % options.of !== options.part) continue;
    const types = [...waiting.values()].flat().map(({ type }) => type);
    if (!mayHold(bundle, types)) continue;
    const built = await buildOf(bundle);
    const executions = waiting.get(built.buildId);
    if (executions === undefined) continue;
    waiting.delete(built.buildId);
    installLogger();
    await replay(built, isMade ? executions.filter(isOfPart) : executions);
  }
  for (const [buildId, executions] of waiting) report.left[buildId] = executions.map(({ type }) => type);
}

function isOfPart({ runId }: Execution): boolean {
  return parseInt(runId.slice(-8), 16) % options.of === options.part;
}

/**
 * Keeps the log off standard output, which must hold only the report. Installed late: a runtime without a worker would
 * keep the process alive.
 */
function installLogger(): void {
  if (isLoggerInstalled) return;
  isLoggerInstalled = true;
  Runtime.install({
    logger: new DefaultLogger('ERROR', ({ level, message }) => process.stderr.write(`${level} ${message}\n`)),
    telemetryOptions: { logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'ERROR' }) } },
  });
}

async function* executionsOfAll(): AsyncGenerator<Execution> {
  const first = await sessionOf('default');
  const { namespaces } = await first.connection.workflowService.listNamespaces({});
  for (const { namespaceInfo } of namespaces) {
    const session = await sessionOf(namespaceInfo!.name!);
    if (session.namespace === 'temporal-system') continue;
    for await (const info of listedBy(session)) yield executionOf(session, info);
  }
}

async function sessionOf(namespace: string): Promise<Session> {
  const session = sessions.get(namespace);
  if (session !== undefined) return session;
  const made = await connect({ address: options.address, namespace, largePayloads: false });
  sessions.set(namespace, made);
  return made;
}

/** Uses the raw service: the SDK would decode memos, and starters may put undecodable bytes there. */
async function* listedBy({ connection, namespace }: Session): AsyncGenerator<ListedExecution> {
  let nextPageToken: Uint8Array | undefined;
  do {
    const query = options.query ?? '';
    const page = await connection.workflowService.listWorkflowExecutions({ namespace, query, nextPageToken });
    yield* page.executions;
    ({ nextPageToken } = page);
  } while (nextPageToken !== undefined && nextPageToken.length > 0);
}

function executionOf(session: Session, info: ListedExecution): Execution {
  const { execution, type, searchAttributes } = info;
  const stored = searchAttributes?.indexedFields?.['BuildIds'];
  const buildIds = stored == null ? [] : (defaultPayloadConverter.fromPayload<string[]>(stored) ?? []);
  return {
    session,
    workflowId: execution!.workflowId!,
    runId: execution!.runId!,
    type: type!.name!,
    buildId: buildIds.findLast((id) => id !== 'unversioned')?.replace(/^[a-z]+:/, ''),
  };
}

async function replay({ workflowBundle, plugins }: BuiltBundle, executions: readonly Execution[]): Promise<void> {
  let current: { execution: Execution; history: History } | undefined;
  async function* histories(): AsyncGenerator<{ workflowId: string; history: History }> {
    for (const execution of executions) {
      const history = await historyOf(execution).catch((error: unknown) => {
        const { workflowId, runId } = execution;
        report.failed.push({ workflowId, runId, error: `its history cannot be read: ${String(error)}`, file: '' });
        return null;
      });
      if (history === null) continue;
      if (history === undefined) skip('its history is gone');
      else if (isStoredElsewhere(history)) skip('its payloads are in a folder that the test removed');
      else {
        current = { execution, history };
        yield { workflowId: execution.workflowId, history };
      }
    }
  }
  // One at a time: the next history is read only after the result of the previous one.
  for await (const { error } of Worker.runReplayHistories({ workflowBundle, plugins, dataConverter }, histories())) {
    if (error === undefined) {
      report.replayed++;
      ruleAgain(current!.execution, current!.history);
    } else keep(current!.execution, current!.history, error);
  }
}

async function historyOf({ session, workflowId, runId }: Execution): Promise<History | undefined> {
  try {
    return await session.client.workflow.getHandle(workflowId, runId).fetchHistory();
  } catch (error) {
    if (grpcStatusOf(error) === grpcStatus.NOT_FOUND) return undefined;
    throw error;
  }
}

/** One execution by itself: a continued one begins with what it was handed. */
function ruleAgain({ workflowId, runId }: Execution, history: History): void {
  const { agreed, differing, notReRuled } = report.rulings;
  const { entries, evidence } = evidenceOf(readExecutions([history]));
  const again = verifyEvidence(entries, evidence);
  report.rulings.agreed = agreed + again.agreed.length;
  differing.push(...again.differing.map(({ sentence }) => ({ workflowId, runId, sentence })));
  for (const { why } of again.notReRuled) notReRuled[why] = (notReRuled[why] ?? 0) + 1;
}

function isStoredElsewhere(history: History): boolean {
  return JSON.stringify(history).includes('"externalPayloads":[{');
}

function keep({ workflowId, runId }: Execution, history: History, error: Error): void {
  mkdirSync(keepIn, { recursive: true });
  const file = join(keepIn, `${runId}.json`);
  writeFileSync(file, historyToJSON(history));
  report.failed.push({ workflowId, runId, error: nondeterminism(error), file });
}

function skip(reason: string): void {
  report.skipped[reason] = (report.skipped[reason] ?? 0) + 1;
}
