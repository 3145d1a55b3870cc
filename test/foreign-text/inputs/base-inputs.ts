import {
  bytesFromBase64,
  callDigest,
  definitionDigest,
  jsonDigest,
  shortDigest,
  isPublicKey,
  isSignedBy,
} from '../../../src/core/base/digest.ts';
import {
  byteLength,
  escapeJson,
  escapeText,
  escapeUnseen,
  isUnseen,
  shortened,
  TextSearch,
  isWellFormed,
} from '../../../src/core/base/text.ts';
import {
  canonicalJson,
  canonicalJsonProblem,
  isTooDeep,
  writeCanonicalJson,
} from '../../../src/core/base/canonical-json.ts';
import { decimalSum } from '../../../src/core/ledger/argument-sums.ts';
import { fitChanges } from '../../../src/text/fit-changes.ts';
import { escapeHtml } from '../../../src/text/html-page.ts';
import { isJson, readJson, utf8Text } from '../../../src/text/read-json.ts';
import { jsonPlace, parseJson, endOfText, strictJsonProblem } from '../../../src/core/base/json.ts';
import {
  wordJoiners,
  oneSentence,
  quoteWord,
  shownName,
  fromVisible,
  visibleJson,
  visibleJsonText,
  visibleLine,
  visibleText,
} from '../../../src/text/visible-text.ts';
import { lookAlikes, looksLike } from '../../../src/text/look-alikes.ts';
import { parseDuration } from '../../../src/core/base/duration.ts';
import { permitMetadata } from '../../../src/core/base/permit-metadata.ts';
import { isProblemCode, problemCodeOf } from '../../../src/core/base/problem.ts';
import { boundFacts, isBoundFacts } from '../../../src/core/base/bound-preview.ts';
import { readChanges, readPreviewed } from '../../../src/core/base/call-preview.ts';
import { personsShown, shownPerson } from '../../../src/core/people/directory.ts';
import { deadlineText, instantText, isTimeZone } from '../../../src/text/instant-text.ts';
import { nestsTooDeep, sizeOf } from '../../../src/core/base/undecodable.ts';
import { checkCallOptions, nearestName, optionProblem, unknownName } from '../../../src/text/check-call-options.ts';
import {
  filesProblem,
  isMediaType,
  readUserFiles,
  saidText,
  shownFile,
  toldText,
} from '../../../src/core/base/user-files.ts';
import { almostWithin, documents, escapable, type Inputs, objects, pieces, values } from './input.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const tableOf = (text: string) => [
  {
    kind: 'table',
    name: text,
    columns: ['one'],
    rows: pieces(text).map((piece) => ({ before: null, after: [piece] })),
  },
];
const textsOf = (text: string) => [{ kind: 'text', name: 'a', before: half(text), after: `${half(text)}!` }];

/** The first half of what is as long as its JSON. */
function half(text: string): string {
  return escapable(text.slice(0, text.length / 2));
}

/** A file with the text in each of its members. */
const files: readonly ((text: string) => { mediaType: string; url: string; filename?: string })[] = [
  (text) => ({ mediaType: 'image/png', url: `data:image/png;base64,${text}` }),
  (text) => ({ mediaType: 'image/png', url: `https://${text}` }),
  (text) => ({ mediaType: 'image/png', url: `https://a.example/${text}` }),
  (text) => ({ mediaType: text, url: `data:${text};base64,AAAA` }),
  (text) => ({ mediaType: 'image/png', url: 'https://a.example', filename: text }),
];
const filed = (run: (file: { mediaType: string; url: string; filename?: string }) => unknown) =>
  files.map((file) => (text: string) => run(file(text)));
const taken = { types: ['image/png'], maxBytes: 1_000, maxFiles: 9, hosts: ['*.a.example'] };

export const baseInputs: Inputs = {
  'core/base/digest.ts bytesFromBase64': [bytesFromBase64, (text) => bytesFromBase64(`${text}==`)],
  'core/base/text.ts byteLength': byteLength,
  'core/base/canonical-json.ts canonicalJson': values(canonicalJson),
  'core/base/canonical-json.ts writeCanonicalJson': values(writeCanonicalJson),
  'core/base/canonical-json.ts canonicalJsonProblem': values(canonicalJsonProblem),
  'core/base/canonical-json.ts isTooDeep': values((value) => isTooDeep(value)),
  'core/base/user-files.ts isMediaType': [isMediaType, (text) => isMediaType(`image/${text}`)],
  'core/base/user-files.ts readUserFiles': [
    ...filed((file) => readUserFiles([file, file], '')),
    ...values((value) => readUserFiles(value, '')),
    (text) => readUserFiles([{ mediaType: 'image/png', url: 'https://a.example', at: text.length }], text),
  ],
  'core/base/user-files.ts filesProblem': [
    ...filed((file) => filesProblem([file], 'a', taken, 1_000)),
    (text) => filesProblem([{ mediaType: 'image/png', url: 'https://b.example' }], text, taken, 1_000),
  ],
  'core/base/user-files.ts shownFile': [...filed(shownFile), ...values(shownFile)],
  'core/base/user-files.ts saidText': [
    ...filed((file) => saidText({ content: '', files: [file] })),
    (text) => saidText({ content: text, files: pieces(text) }),
  ],
  'core/base/user-files.ts toldText': (text) => toldText(text, [{ mediaType: text, host: text, filename: text }]),
  'core/ledger/argument-sums.ts decimalSum': {
    most: 650,
    runs: [(text) => decimalSum(`${text.length}e-300`, '9'.repeat(text.length + 1))],
  },
  'core/base/digest.ts callDigest': objects((args) => callDigest({ tool: 'pay', args, definition: '' })),
  'core/base/digest.ts definitionDigest': objects((schema) => definitionDigest({ name: 'pay', schema })),
  'core/base/digest.ts jsonDigest': values(jsonDigest),
  'core/base/digest.ts shortDigest': shortDigest,
  'core/base/digest.ts isSignedBy': (text) => isSignedBy(new Uint8Array(32), bytesOf(text), bytesOf(text)),
  'core/base/digest.ts isPublicKey': (text) => isPublicKey(bytesOf(text)),
  'core/base/text.ts isUnseen': isUnseen,
  'core/base/text.ts escapeText': escapeText,
  'core/base/text.ts escapeUnseen': escapeUnseen,
  'core/base/text.ts escapeJson': { places: 2, runs: values((value) => escapeJson(value, 2)) },
  'text/fit-changes.ts fitChanges': {
    places: 2,
    runs: [(text) => fitChanges(tableOf(text) as never, 30_000), (text) => fitChanges(textsOf(text) as never, 30_000)],
  },
  'text/html-page.ts escapeHtml': escapeHtml,
  'text/instant-text.ts instantText': (text) => instantText(text, { timeZone: 'Europe/Berlin', nowMs: 0 }),
  'text/instant-text.ts deadlineText': (text) => deadlineText(text, 0),
  'text/instant-text.ts isTimeZone': isTimeZone,
  'text/read-json.ts isJson': documents(isJson),
  'text/read-json.ts utf8Text': (text) => utf8Text(Buffer.concat([Buffer.from(text), Buffer.from([0xff])])),
  'core/base/json.ts jsonPlace': [(text) => jsonPlace(text, [text]), (text) => jsonPlace('a', pieces(text))],
  'text/visible-text.ts wordJoiners': wordJoiners,
  'text/look-alikes.ts lookAlikes': lookAlikes,
  'text/look-alikes.ts looksLike': looksLike,
  'text/visible-text.ts oneSentence': oneSentence,
  'core/base/duration.ts parseDuration': parseDuration,
  'core/base/json.ts parseJson': documents(parseJson),
  'core/base/permit-metadata.ts permitMetadata': objects(permitMetadata),
  'core/base/problem.ts isProblemCode': isProblemCode,
  'core/base/problem.ts problemCodeOf': problemCodeOf,
  'core/base/bound-preview.ts boundFacts': objects((value) => boundFacts(value, value)),
  'core/base/bound-preview.ts isBoundFacts': objects((facts) => isBoundFacts({ digest: '0'.repeat(64), facts })),
  'core/base/call-preview.ts readChanges': [(text) => readChanges(tableOf(text)), (text) => readChanges(textsOf(text))],
  'core/base/call-preview.ts readPreviewed': [
    (text) => readPreviewed({ changes: textsOf(text), facts: { [text]: text } }),
    (text) => readPreviewed({ changes: [], [text]: text }),
  ],
  'text/visible-text.ts quoteWord': quoteWord,
  'text/read-json.ts readJson': documents((text) => readJson(text, { root: 'a' })),
  'core/base/text.ts shortened': [(text) => shortened(text, 100), (text) => shortened(text, text.length - 1)],
  'text/visible-text.ts shownName': shownName,
  'core/people/directory.ts personsShown': (text) => personsShown({ [text]: { name: text } })(text),
  'core/people/directory.ts shownPerson': (text) => shownPerson(text, `${text}a`),
  'core/base/json.ts strictJsonProblem': documents((text) => strictJsonProblem(text, { maxDepth: 64 })),
  'core/base/json.ts endOfText': (text) => endOfText(`"${text}`, 0),
  'core/base/undecodable.ts sizeOf': values(sizeOf),
  'core/base/undecodable.ts nestsTooDeep': (text) => nestsTooDeep(bytesOf(text)),
  'text/check-call-options.ts checkCallOptions': (text) => {
    try {
      checkCallOptions<object>('createClient', { [text]: 1 }, { channels: true, routes: true });
    } catch {
      // The sentence is what takes the time.
    }
  },
  'text/check-call-options.ts nearestName': (text) => nearestName(text, ['channels', 'routes']),
  'text/check-call-options.ts optionProblem': (text) => optionProblem({ [text]: 1 }, ['channels', 'routes']),
  'text/check-call-options.ts unknownName': (text) => unknownName('option', text, ['channels', 'routes']),
  'text/visible-text.ts visibleText': {
    places: 2,
    runs: [visibleText, (text) => visibleText(text, { lines: true })],
  },
  'text/visible-text.ts fromVisible': fromVisible,
  'text/visible-text.ts visibleLine': visibleLine,
  'text/visible-text.ts visibleJsonText': { places: 2, runs: documents(visibleJsonText) },
  'text/visible-text.ts visibleJson': { places: 2, runs: documents(visibleJson) },
  'core/base/text.ts TextSearch.next': (text) => new TextSearch(almostWithin(text)).next(text),
  'core/base/text.ts TextSearch.places': [
    (text) => new TextSearch(almostWithin(text)).places(text),
    (text) => new TextSearch(text.slice(0, 20)).places(text),
  ],
  'core/base/text.ts TextSearch.overlap': (text) => new TextSearch(`${text}!`).overlap(text),
  'core/base/text.ts isWellFormed': isWellFormed,
};
