import type { Severity } from 'countersign/base';
import type { CountersignClient, JournalEntry } from 'countersign/client';
import type { DemoEvent, Tell } from './demo-event.ts';
import { type SeenTurn, readRun } from './read-run.ts';

/** Reports the model's texts and the gate's rulings from history, each once and in order. */
export class Narrator {
  readonly #client: CountersignClient;
  readonly #workflowId: string;
  readonly #tell: Tell;
  readonly #told = new Set<string>();

  constructor(client: CountersignClient, workflowId: string, tell: Tell) {
    this.#client = client;
    this.#workflowId = workflowId;
    this.#tell = tell;
  }

  /** Reports what is new. Skips the text of a turn without calls: it is the run's result. */
  async catchUp(): Promise<void> {
    const { turns, rulings } = await readRun(this.#client, this.#workflowId);
    for (const [index, { text, calls }] of turns.entries()) {
      if (calls.length === 0) continue;
      if (text.trim() !== '') this.#once(`turn ${index}`, { event: 'said', text });
      for (const call of calls) {
        const ruling = rulings.get(call.callId);
        // The ruling may arrive with a later event; reporting out of order would confuse.
        if (ruling === undefined) return;
        this.#once(call.callId, rulingOf(call, ruling));
      }
    }
  }

  #once(key: string, event: DemoEvent): void {
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#tell(event);
  }
}

function rulingOf(call: SeenTurn['calls'][number], entry: JournalEntry): DemoEvent {
  const { action = 'refused', rule = null, severity } = entry;
  const reason = entry.reason ?? (rule === null ? defaultReasons[severity ?? 'high'] : 'no reason given');
  return { event: 'ruling', ...call, action, rule, reason };
}

const defaultReasons: Record<Severity, string> = {
  safe: 'the default for tools that only read',
  low: 'the default for tools that write',
  medium: 'the default for tools that write',
  high: 'the default for destructive tools',
  critical: 'the default for destructive tools',
};
