import { defaultPayloadConverter } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import { journalIn, activityNames, type CallModelResult } from 'countersign/adapter';
import type { Json } from 'countersign/base';
import type { CountersignClient, JournalEntry } from 'countersign/client';

type Payload = temporal.api.common.v1.IPayload;

/** A turn of the model, as recorded in history. */
export interface SeenTurn {
  text: string;
  calls: { callId: string; tool: string; args: Json }[];
}

export interface SeenRun {
  turns: SeenTurn[];
  /** The gate's rulings, by call. */
  rulings: Map<string, JournalEntry>;
}

/** Reads what a run has done so far from its history: this needs no worker and does not wake the run. */
export async function readRun(client: CountersignClient, workflowId: string): Promise<SeenRun> {
  const { executions } = await client.historyChain(workflowId);
  const run: SeenRun = { turns: [], rulings: new Map() };
  for (const { events } of executions) {
    const modelCalls = new Set<string>();
    for (const event of events) {
      const scheduled = event.activityTaskScheduledEventAttributes;
      if (scheduled?.activityType?.name === activityNames.callModel) modelCalls.add(String(event.eventId));
      const completed = event.activityTaskCompletedEventAttributes;
      if (completed != null && modelCalls.has(String(completed.scheduledEventId))) {
        run.turns.push(turnOf(decode(completed.result?.payloads?.[0]) as CallModelResult, run.turns.length + 1));
      }
      for (const entry of journalIn(event)) {
        if (entry.callId !== undefined && (entry.kind === 'ruling' || entry.kind === 'opened')) {
          run.rulings.set(entry.callId, entry);
        }
      }
    }
  }
  return run;
}

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

function decode(payload: Payload | null | undefined): unknown {
  return payload == null ? undefined : defaultPayloadConverter.fromPayload(payload);
}
