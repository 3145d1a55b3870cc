/** The place of an event in the history of a run. */
export interface EventPlace {
  /** Temporal's run id of the execution. */
  runId: string;
  eventId: number;
  /** From 0: the place among the events that are made of the same history event. */
  index: number;
}

export function eventIdOf({ runId, eventId, index }: EventPlace): string {
  return `${runId}.${eventId}.${index}`;
}

/** Undefined for a text that is no id of an event. */
export function parseEventId(id: string): EventPlace | undefined {
  const [, runId, eventId, index] = /^([0-9a-f-]{1,64})\.([1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,5})$/.exec(id) ?? [];
  return runId === undefined ? undefined : { runId, eventId: Number(eventId), index: Number(index) };
}

/** True if the first place comes after the other one of the same execution. */
export function isAfter(one: Omit<EventPlace, 'runId'>, other: Omit<EventPlace, 'runId'>): boolean {
  return one.eventId === other.eventId ? one.index > other.index : one.eventId > other.eventId;
}
