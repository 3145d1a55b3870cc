import type { Change } from '../../../src/core/base/call-preview.ts';
import { argumentFields, fieldFormat } from '../../../src/card/argument-fields.ts';
import { cardChange, isChangeNameCut, tableTotals } from '../../../src/card/card-change.ts';
import { drawnLines } from '../../../packages/gateway/src/inbox/request/diff-lines.ts';
import { cardDigest, cardOf, misleading, withWarnings } from '../../../src/card/card-of.ts';
import { type CardRequest, type Card, type CardField, decidingTexts } from '../../../src/card/card.ts';
import { quoted, editText, settledRows } from '../../../src/card/card-rows.ts';
import { fieldLabel, fieldNote, saysName } from '../../../src/card/card-words.ts';
import {
  cutInline,
  cutJson,
  cutLine,
  cutLines,
  grouped,
  inline,
  noBounds,
  wholeText,
  wrapText,
} from '../../../src/card/cut-text.ts';
import { fieldReading } from '../../../src/card/field-reading.ts';
import { jsonText } from '../../../src/card/member-schema.ts';
import { renderHtml, renderHtmlPage } from '../../../src/card/render-html.ts';
import { codeSpan, renderMarkdown } from '../../../src/card/render-markdown.ts';
import {
  renderSlack,
  renderSlackSummary,
  fallbackText,
  preformatted,
  section,
  slackMessages,
} from '../../../src/card/render-slack.ts';
import { renderTerminal } from '../../../src/card/render-terminal.ts';
import { EventRedactor } from '../../../src/events/event-redactor.ts';
import { parseEventId } from '../../../src/events/run-event.ts';
import { textOf } from '../../../src/events/history-event.ts';
import { KnownSecrets } from '../../../src/events/text-redactor.ts';
import { readModelInput, readModelTurn, readRunInput } from '../../../src/events/read-payloads.ts';
import { readTokenTail, tokenTail, TokenCursor } from '../../../src/events/token-tail.ts';
import { sensitiveKinds } from '../../../src/core/redact/kinds.ts';
import { cardRequest } from '../../card/sample-requests.ts';
import { almostWithin, type Inputs, objects, pieces, type Run, values } from './input.ts';

const tableOf = (text: string): Change => ({
  kind: 'table',
  name: text.slice(0, 100),
  columns: [text.slice(0, text.length / 4), 'two'],
  rows: pieces(text.slice(0, text.length / 3)).map((piece) => ({ before: [piece, 1], after: [piece, text.length] })),
});
const textOfLines = (text: string): Change => ({
  kind: 'text',
  name: 'a',
  before: text.slice(0, text.length / 2),
  after: `${text.slice(0, text.length / 2)}!`,
});
const requests: readonly ((text: string) => Partial<CardRequest>)[] = [
  (text) => ({ sentence: text }),
  (text) => ({ toolName: text }),
  (text) => ({ contextSummary: text }),
  ...['to', 'amount', 'url', 'path'].map((name) => (text: string) => ({ arguments: { [name]: text } })),
  (text) => ({ arguments: Object.fromEntries(pieces(text).map((piece, index) => [`${piece}${index}`, piece])) }),
  (text) => ({
    arguments: {
      [text.slice(0, text.length / 2)]: Object.fromEntries(
        pieces(text.slice(0, text.length / 2)).map((piece, index) => [index, piece]),
      ),
    },
  }),
  (text) => ({ preview: { state: 'ready', changes: [tableOf(text)] } }),
  (text) => ({ preview: { state: 'ready', changes: [textOfLines(text)] } }),
];
const asked = (run: (request: CardRequest) => unknown): Run[] =>
  requests.map((request) => (text) => run(cardRequest(request(text))));
/** A card has a text as a value, in sentences, in what they quote and in the raw call; each escape has eight characters. */
const places = 12;
/** Of whole cards: nothing in them is cut. */
const cards = (run: (card: Card) => unknown, times = 1) => ({
  places: places * times,
  runs: asked((request) => run(cardOf(request, { all: true }))),
});
const fieldOf = (text: string): CardField => ({ name: text, title: text, format: 'text', value: { text } });

const at = '2026-01-01T00:00:00.000Z';

/** A redactor of a run with the standard policy, which has seen a call with a secret. */
function redactor(secret: string): EventRedactor {
  const made = new EventRedactor();
  const run = { version: 1, rules: [], riskDefaults: {}, approval: {} };
  const activity = { kind: 'config', scheduledEventId: 5, given: {} } as const;
  const end = { result: { policyDigest: 'x', run } };
  made.learn({ eventId: 7, at, what: { kind: 'ended', activity, state: 'completed', end }, journal: [] });
  const item = { type: 'tool_call', callId: '1.1', toolName: 'a', arguments: { password: secret } } as never;
  made.note([{ type: 'RunItemEvent', id: '', workflowId: '', at, item }]);
  return made;
}

const longestTail = 8_000;

export const cardInputs: Inputs = {
  // A name is read for its format, for its label and for look-alikes, in forms of up to eighteen times its length.
  'card/argument-fields.ts argumentFields': {
    places: 6,
    runs: objects((args) => argumentFields(args, {}, noBounds)),
  },
  'card/card-change.ts cardChange': {
    places: 3,
    runs: [(text) => cardChange(tableOf(text), noBounds), (text) => cardChange(textOfLines(text), noBounds)],
  },
  'packages/gateway/src/inbox/request/diff-lines.ts drawnLines': {
    places: 3,
    runs: [(text) => drawnLines(cardChange(textOfLines(text), noBounds) as never)],
  },
  'card/card-change.ts isChangeNameCut': (text) => isChangeNameCut({ ...tableOf('a'), name: text }, noBounds),
  'card/card-of.ts cardDigest': cards(cardDigest),
  'card/card-of.ts cardOf': {
    places,
    runs: [...asked((request) => cardOf(request)), ...asked((request) => cardOf(request, { all: true }))],
  },
  'card/card-rows.ts settledRows': (text) =>
    settledRows({ outcome: 'denied', reviewerId: 'ann', reason: text, settledAt: at } as never, {}, noBounds),
  'card/card-rows.ts editText': {
    places: 4,
    runs: [(text) => editText({ [text]: text }, { [text]: `${text}x` })],
  },
  'card/card-rows.ts quoted': quoted,
  'card/card-words.ts fieldLabel': (text) => fieldLabel(fieldOf(text)),
  'card/card-words.ts saysName': (text) => saysName(text, text),
  'card/card-words.ts fieldNote': (text) => fieldNote(fieldOf(text)),
  'card/cut-text.ts cutLine': [(text) => cutLine(text, 100), (text) => cutLine(text, Infinity)],
  'card/cut-text.ts cutJson': (text) => cutJson(text, 100),
  'card/cut-text.ts inline': (text) => inline({ text, hidden: 1, end: text }),
  'card/cut-text.ts cutLines': (text) => cutLines(text, { value: 1_200, lines: 40 }),
  'card/cut-text.ts cutInline': (text) => cutInline(text, 200),
  'card/cut-text.ts wholeText': (text) => wholeText({ text, hidden: 1, end: text }),
  'card/cut-text.ts grouped': grouped,
  'card/card.ts decidingTexts': asked(decidingTexts),
  'card/argument-fields.ts fieldFormat': ['to', 'url', 'amount', 'at', 'path', 'a'].map(
    (name): Run =>
      (text) =>
        fieldFormat(name, {}, text),
  ),
  'card/field-reading.ts fieldReading': (['url', 'address', 'path', 'duration', 'money'] as const).map(
    (format): Run =>
      (text) =>
        fieldReading('a', format, text, { currency: 'EUR' }),
  ),
  'card/member-schema.ts jsonText': { places: 3, runs: values(jsonText) },
  'card/card-of.ts misleading': {
    places: 4,
    runs: [
      (text) => misleading(cardRequest({ sentence: text }), []),
      (text) => misleading(cardRequest(), [withWarnings(fieldOf(cutLine(text, Infinity).text))]),
    ],
  },
  'card/card-of.ts withWarnings': { places: 4, runs: [(text) => withWarnings(fieldOf(cutLine(text, Infinity).text))] },
  'card/render-html.ts renderHtmlPage': cards(renderHtmlPage),
  'card/render-html.ts renderHtml': cards(renderHtml),
  'card/render-markdown.ts codeSpan': codeSpan,
  'card/render-markdown.ts renderMarkdown': cards(renderMarkdown),
  'card/render-slack.ts renderSlack': { places, runs: asked((request) => renderSlack(cardOf(request))) },
  'card/render-slack.ts renderSlackSummary': {
    places,
    runs: asked((request) => renderSlackSummary(cardOf(request), 3_000)),
  },
  'card/render-terminal.ts renderTerminal': cards(
    (card) => [renderTerminal(card, { width: 80 }), renderTerminal(card)],
    2,
  ),
  'card/render-slack.ts section': (text) => section([{ text }]),
  'card/render-slack.ts preformatted': preformatted,
  'card/render-slack.ts slackMessages': [
    (text) => slackMessages('a', [[preformatted(text)]]),
    (text) => slackMessages('a', [pieces(text).map((piece) => section([{ text: piece }]))]),
  ],
  'card/render-slack.ts fallbackText': fallbackText,
  'card/card-change.ts tableTotals': (text) =>
    tableTotals(['one', text], tableOf(text).kind === 'table' ? (tableOf(text) as never as { rows: [] }).rows : []),
  'card/cut-text.ts wrapText': [
    (text) => wrapText(text, 80, (each) => each.length),
    (text) => wrapText(text, 80, (each) => each.length, { keepsSpaces: true }),
  ],
  'events/run-event.ts parseEventId': parseEventId,
  'events/event-redactor.ts EventRedactor.tail': {
    most: longestTail,
    runs: [
      (text) => redactor('secret').tail(1, tokenTail(1, text)),
      (text) => redactor(text).tail(1, tokenTail(1, text)),
    ],
  },
  'events/history-event.ts textOf': values(textOf),
  'events/text-redactor.ts KnownSecrets.note': (text) => {
    new KnownSecrets().note(
      { password: text },
      [{ path: ['password'], spans: [[0, text.length, '[PASSWORD]']] }],
      sensitiveKinds,
    );
  },
  'events/text-redactor.ts KnownSecrets.spansIn': [
    (text) => knowing(text.slice(0, 1_000)).spansIn(text),
    (text) => knowing(almostWithin(text).slice(0, 150_000)).spansIn(text),
  ],
  'events/text-redactor.ts KnownSecrets.beginsAt': [
    (text) => knowing(text.slice(0, 150_000)).beginsAt(text),
    (text) => knowing(`${text.slice(0, 150_000)}!`).beginsAt(`${text}?`),
  ],
  'events/read-payloads.ts readRunInput': [
    ...values(readRunInput),
    (text) => readRunInput({ agent: text, input: text, caller: { userId: text } }),
  ],
  'events/read-payloads.ts readModelInput': values(readModelInput),
  'events/read-payloads.ts readModelTurn': [
    ...values(readModelTurn),
    (text) => readModelTurn({ text, calls: pieces(text) }),
  ],
  'events/token-tail.ts TokenCursor.next': (text) => new TokenCursor().next(1, tokenTail(1, text)),
  'events/token-tail.ts tokenTail': (text) => tokenTail(1, text),
  'events/token-tail.ts readTokenTail': (text) => readTokenTail({ attempt: 1, offset: 0, tail: text }),
};

function knowing(secret: string): KnownSecrets {
  const known = new KnownSecrets();
  known.note({ password: secret }, [{ path: ['password'], spans: [[0, secret.length, '[PASSWORD]']] }], []);
  return known;
}
