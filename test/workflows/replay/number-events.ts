import { activityNames } from '../../../src/contract.ts';
import { attributesOf, type HistoryEvent } from './history-tasks.ts';

/** Ids of events in another history. */
const foreignIds = new Set(['parentInitiatedEventId', 'externalInitiatedEventId']);

/**
 * Renumbers the events from 1 in their order and updates all references to them, both in attributes and in the results
 * of the activity that answers by event id.
 */
export function numberEvents(events: readonly HistoryEvent[]): HistoryEvent[] {
  const numbers = new Map(events.map(({ eventId }, index) => [eventId, String(index + 1)]));
  const arbitrations = new Set(events.filter(isArbitration).map(({ eventId }) => eventId));
  let startedId = 0;
  return events.map((event, index) => {
    const copy: HistoryEvent = { ...structuredClone(event), eventId: String(index + 1) };
    const attributes = attributesOf(copy);
    if (arbitrations.has(String(attributes['scheduledEventId'])) && 'result' in attributes) {
      renumberKeys(attributes['result'] as ActivityResult, numbers);
    }
    for (const [name, value] of Object.entries(attributes)) {
      if (!name.endsWith('EventId') || foreignIds.has(name)) continue;
      attributes[name] = numbers.get(String(value)) ?? value;
    }
    if (event.eventType === 'EVENT_TYPE_WORKFLOW_TASK_STARTED') startedId = index + 1;
    // The server sequences an update after all events that its task takes.
    if ('acceptedRequestSequencingEventId' in attributes) {
      attributes['acceptedRequestSequencingEventId'] = String(startedId - 1);
    }
    return copy;
  });
}

interface ActivityResult {
  payloads: { data: string }[];
}

function isArbitration(event: HistoryEvent): boolean {
  const type = attributesOf(event)['activityType'] as { name: string } | undefined;
  return type?.name === activityNames.arbitrate;
}

function renumberKeys({ payloads }: ActivityResult, numbers: ReadonlyMap<string, string>): void {
  for (const payload of payloads) {
    const answers = JSON.parse(Buffer.from(payload.data, 'base64').toString()) as Record<string, number>;
    const renumbered = Object.entries(answers).map(([id, time]) => [numbers.get(id) ?? id, time]);
    payload.data = Buffer.from(JSON.stringify(Object.fromEntries(renumbered))).toString('base64');
  }
}
