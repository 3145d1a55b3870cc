import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { modelFromEnvironment } from 'countersign';
import type { RunResult, CountersignClient, JournalEntry, ApprovalSummary } from 'countersign/client';
import { type Severity, type Json, isProblemError } from 'countersign/base';
import { defaultPayloadConverter } from '@temporalio/common';
import { journalIn, activityNames, type CallModelResult } from 'countersign/adapter';
import type { DemoEvent, Tell, AskPerson } from './ask-person.ts';
import { userInfo } from 'node:os';
import type { Stage } from './start-stage.ts';

interface SeenTurn {
  text: string;
  calls: { callId: string; tool: string; args: Json }[];
}

interface SeenRun {
  turns: SeenTurn[];
  /** The gate's rulings, by the id of the call. */
  rulings: Map<string, JournalEntry>;
}

/** Reports the model's texts and the gate's rulings from history, each once and in order. */
class Narrator {
  readonly #client: CountersignClient;
  readonly #workflowId: string;
  readonly #tell: Tell;
  readonly #reported = new Set<string>();

  constructor(client: CountersignClient, workflowId: string, tell: Tell) {
    this.#client = client;
    this.#workflowId = workflowId;
    this.#tell = tell;
  }

  /** Reports new events, but not the text of a turn without calls: it is the result, which the demo prints later. */
  async catchUp(): Promise<void> {
    const { turns, rulings } = await readRun(this.#client, this.#workflowId);
    for (const [index, { text, calls }] of turns.entries()) {
      if (calls.length === 0) continue;
      if (text.trim() !== '') this.#once(`turn ${index}`, { event: 'said', text });
      for (const call of calls) {
        const ruling = rulings.get(call.callId);
        // To keep the order, nothing more is reported before history has the ruling on this call.
        if (ruling === undefined) return;
        this.#once(call.callId, rulingOf(call, ruling));
      }
    }
  }

  #once(key: string, event: DemoEvent): void {
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.#tell(event);
  }
}

const defaultReasons: Record<Severity, string> = {
  safe: 'the default for tools that only read',
  low: 'the default for tools that write',
  medium: 'the default for tools that write',
  high: 'the default for destructive tools',
  critical: 'the default for destructive tools',
};

const input = 'Please tidy up my folder: sort what belongs together, and delete copies and leftovers.';
const lookEveryMs = 150;

export interface PlayOptions extends SettleOptions {
  /** The model; undefined if a script replaces it. */
  model: ReturnType<typeof modelFromEnvironment>;
  keep: boolean;
}

/** Plays the demo: one run from start to end, whose worker is killed midway. */
export async function play(options: PlayOptions): Promise<RunResult> {
  const { stage, tell, model, keep } = options;
  const { client, address, uiUrl } = stage;
  tell({ event: 'server', address, uiUrl, pid: stage.pid });
  tell({
    event: 'folder',
    path: stage.folder,
    model: model === undefined ? 'scripted: examples/tidy/turns.yaml' : model.modelId,
    scripted: model === undefined,
  });
  tell({ event: 'worker', pid: stage.workerPid, again: false });

  const handle = await client.start('tidy', input);
  const { workflowId } = handle;
  const url = `${uiUrl}/namespaces/default/workflows/${encodeURIComponent(workflowId)}`;
  tell({ event: 'run', workflowId, url });

  const narrator = new Narrator(client, workflowId, tell);
  const tellTrouble = troubleTeller(options, workflowId);
  let result: RunResult | undefined;
  let killed = false;
  const ended = handle.result();
  const watching = ended.then(
    (value) => (result = value),
    () => undefined,
  );
  for (;;) {
    const isOver = await Promise.race([watching.then(() => true), sleep(lookEveryMs, false)]);
    await narrator.catchUp();
    if (isOver) break;
    await tellTrouble();
    const [request] = (await client.approvals.list({ workflowId })).approvals;
    if (request === undefined) continue;
    // Prints the events that precede the request before the request itself.
    await narrator.catchUp();
    if (!killed) await killWorker(options, request.requestId);
    killed = true;
    await settleRequest(request, options);
  }
  result ??= await ended; // throws the run's failure
  await tellCounts(options, result);
  const { status, output, outcomes } = result;
  tell({ event: 'result', status, output, outcomes });
  tell({ event: 'links', url, commands: [command(address, 'show', workflowId)], keep });
  return result;
}

/** Kills the worker while a request is open, shows that the request survives, and waits for the next worker. */
async function killWorker({ stage, tell }: SettleOptions, requestId: string): Promise<void> {
  const { pid, next } = await stage.killWorker();
  tell({ event: 'killed', pid });
  for (;;) {
    // The list comes from Temporal's visibility, which needs no worker, and lags by up to a second.
    const { approvals } = await stage.client.approvals.list();
    const row = approvals.find((each) => each.requestId === requestId);
    if (row !== undefined) {
      tell({ event: 'listed', requestId, tool: row.toolName, deadline: row.deadline });
      break;
    }
    await sleep(lookEveryMs);
  }
  tell({ event: 'worker', pid: await next, again: true });
}

/** Reports how often each call that needed a decision ran, by the log that the tools write. */
async function tellCounts({ stage, tell }: SettleOptions, { outcomes }: RunResult): Promise<void> {
  const text = await readFile(stage.log, 'utf8').catch(() => '');
  const lines = text.split('\n').filter((line) => line !== '');
  const ran = lines.map((line) => (JSON.parse(line) as { callId: string }).callId);
  for (const { callId, toolName: tool, requestId } of outcomes) {
    if (requestId === undefined) continue;
    tell({ event: 'counted', callId, tool, times: ran.filter((each) => each === callId).length, log: stage.log });
  }
}

/** Returns a function that reports why an activity, such as a call of a real model, is retried, if that has changed. */
function troubleTeller({ stage, tell }: SettleOptions, workflowId: string): () => Promise<void> {
  let reported = '';
  return async () => {
    const { raw } = await stage.client.session.client.workflow.getHandle(workflowId).describe();
    const failing = raw.pendingActivities?.find(({ lastFailure }) => lastFailure != null);
    const text = failing?.lastFailure?.message ?? '';
    if (text !== '' && text !== reported) tell({ event: 'note', text: `${text} It is tried again.` });
    reported = text;
  };
}

function rulingOf(call: SeenTurn['calls'][number], entry: JournalEntry): DemoEvent {
  const { action = 'refused', rule = null, severity } = entry;
  const reason = entry.reason ?? (rule === null ? defaultReasons[severity ?? 'high'] : 'no reason given');
  return { event: 'ruling', ...call, action, rule, reason };
}

/** Reads the progress of the run from its history, which needs no worker. */
async function readRun(client: CountersignClient, workflowId: string): Promise<SeenRun> {
  const { executions } = await client.historyChain(workflowId);
  const run: SeenRun = { turns: [], rulings: new Map() };
  for (const { events } of executions) {
    const modelCalls = new Set<string>();
    for (const event of events) {
      const scheduled = event.activityTaskScheduledEventAttributes;
      if (scheduled?.activityType?.name === activityNames.callModel) modelCalls.add(String(event.eventId));
      // A completed event names its activity only by the id of the event that scheduled it.
      const completed = event.activityTaskCompletedEventAttributes;
      if (completed != null && modelCalls.has(String(completed.scheduledEventId))) {
        const answer = defaultPayloadConverter.fromPayload<CallModelResult>(completed.result!.payloads![0]!);
        run.turns.push(turnOf(answer, run.turns.length + 1));
      }
      // The ruling on a call that waits for a person is in the entry `opened`.
      for (const entry of journalIn(event)) {
        if (entry.callId !== undefined && (entry.kind === 'ruling' || entry.kind === 'opened')) {
          run.rulings.set(entry.callId, entry);
        }
      }
    }
  }
  return run;
}

/** Returns a turn whose calls have the ids that the run gives them, `TURN.INDEX`. `raw`: unreadable arguments. */
function turnOf({ text, calls }: CallModelResult, turn: number): SeenTurn {
  return {
    text,
    calls: calls.map(({ tool, args, raw }, index) => ({
      callId: `${turn}.${index + 1}`,
      tool,
      args: args ?? raw ?? {},
    })),
  };
}

interface SettleOptions {
  stage: Stage;
  tell: Tell;
  /** Asks a person; undefined if all is approved without asking. */
  askPerson: AskPerson | undefined;
}

/** Shows an open request, asks for the decision and sends it, unless it is settled first. No answer is a denial. */
async function settleRequest({ requestId, workflowId }: ApprovalSummary, options: SettleOptions): Promise<void> {
  const { stage, tell, askPerson } = options;
  const { client, address } = stage;
  const details = await client.approvals.get(requestId, { workflowId });
  const { toolName: tool, arguments: args, contextSummary: context, digest } = details;
  const commands = askPerson === undefined ? [] : [command(address, 'approve', requestId)];
  const url = `${stage.inboxUrl}requests/${encodeURIComponent(workflowId)}/${requestId}`;
  tell({ event: 'asking', requestId, tool, args, context, digest, ...(askPerson && { url }), commands });
  const answer =
    askPerson === undefined ? ({ approved: true } as const) : await raceWithOthers(stage, details, askPerson);
  if (answer === undefined) {
    const { settled } = await client.approvals.get(requestId, { workflowId });
    const by = settled?.reviewerId === undefined ? '' : ` by ${settled.reviewerId}`;
    tell({ event: 'elsewhere', requestId, message: `${settled?.outcome ?? 'settled'}${by}, elsewhere` });
    return;
  }
  if (answer === 'nobody') tell({ event: 'nobody', requestId });
  const by = askPerson === undefined ? '--yes' : answer === 'nobody' ? 'the demo' : systemUser();
  const decision = answer === 'nobody' ? { approved: false, reason: 'No answer: the input ended' } : answer;
  try {
    const { message } = await client.decide({ requestId, ...decision, digest, reviewerId: by }, { workflowId });
    tell({ event: 'decided', requestId, approved: decision.approved, by, message });
  } catch (error) {
    if (!isProblemError(error) || !['expired', 'already_settled', 'run_closed'].includes(error.code)) throw error;
    tell({ event: 'elsewhere', requestId, message: error.message });
  }
}

/** Returns a countersign command for another terminal, as typed in a clone of the repository. */
function command(address: string, ...words: string[]): string {
  return ['npm run countersign --', ...words, '--address', address].join(' ');
}

/** Returns the person's answer; undefined if the request was settled elsewhere meanwhile. */
async function raceWithOthers(
  { client }: Stage,
  { requestId, workflowId }: { requestId: string; workflowId: string },
  askPerson: AskPerson,
): Promise<Awaited<ReturnType<AskPerson>> | undefined> {
  const done = new AbortController();
  const elsewhere = async (): Promise<undefined> => {
    for (;;) {
      await sleep(1_000, undefined, { signal: done.signal });
      const { approvals } = await client.approvals.list({ workflowId });
      if (!approvals.some((row) => row.requestId === requestId)) return undefined;
    }
  };
  const settled = elsewhere();
  const asked = askPerson(done.signal);
  for (const promise of [settled, asked]) promise.catch(() => undefined); // the slower one rejects when it is aborted
  try {
    return await Promise.race([asked, settled]);
  } finally {
    done.abort(new Error('settled'));
  }
}

/** Returns the name of the system's user, or 'you' without a name, as in some containers. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return 'you';
  }
}
