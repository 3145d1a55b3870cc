import { problemText, ageText, leftText } from '../../../packages/gateway/src/inbox/state/texts.ts';
import { changedValues, placedProblems } from '../../../packages/gateway/src/inbox/form/read-form.ts';
import { otherAccount } from '../../../packages/gateway/src/inbox/request/named-accounts.ts';
import { valueChanges } from '../../../packages/gateway/src/inbox/request/what-changed.ts';
import { emptyForm, formOf, nextItem, nextMember, typeOf } from '../../../packages/gateway/src/inbox/form/form-node.ts';
import { isUrgent, searchWords } from '../../../packages/gateway/src/http/inbox/open-view.ts';
import { readQuery } from '../../../packages/gateway/src/inbox/list/filters.ts';
import { foundCommands } from '../../../packages/gateway/src/inbox/palette/commands.ts';
import { temporalHref, matchPath } from '../../../packages/gateway/src/inbox/state/paths.ts';
import { readRunFilters, isModeChoice } from '../../../packages/gateway/src/inbox/run/run-fields.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { type Inputs, objects, pieces, type Run, values } from './input.ts';

/** Schemas that a server may give to its tools, with the text in each of their members. */
const schemas: readonly ((text: string) => JsonObject)[] = [
  (text) => ({ type: text, title: text, description: text }),
  (text) => ({ enum: pieces(text) }),
  (text) => ({ type: 'object', properties: byPiece(text, () => ({ type: 'string' })), required: pieces(text) }),
  (text) => ({ type: 'object', properties: { a: { $ref: '#' } }, required: ['a'], title: text }),
  (text) => ({ type: 'array', items: { $ref: text }, default: pieces(text) }),
  (text) => ({ type: pieces(text), anyOf: pieces(text).map((title) => ({ title })) }),
];
const ofSchemas = (run: (schema: JsonObject, text: string) => unknown): Run[] =>
  schemas.map((schema) => (text) => run(schema(text), text));
const query = (text: string): string => `?tool=${text}&agent=${text}&text=${pieces(text).join('&text=')}`;

function byPiece(text: string, valueOf: () => JsonObject): JsonObject {
  return Object.fromEntries(pieces(text).map((piece, index) => [`${index}${piece}`, valueOf()]));
}

export const inboxInputs: Inputs = {
  'packages/gateway/src/inbox/state/texts.ts problemText': [problemText, (text) => problemText(new Error(text))],
  'packages/gateway/src/inbox/form/read-form.ts changedValues': {
    places: 3,
    runs: [
      ...objects((args) => changedValues(args, { ...args, to: 1 })),
      ...objects((args) => changedValues({ args }, { args: {} })),
      ...values((value) => changedValues(value, {})),
    ],
  },
  'packages/gateway/src/inbox/form/form-node.ts formOf': [
    ...objects((args) => formOf(args, {}, {})),
    ...ofSchemas((schema, text) => formOf({ a: text, b: pieces(text) }, schema, schema)),
    ...ofSchemas((schema, text) => formOf(pieces(text), schema, schema)),
  ],
  'packages/gateway/src/inbox/form/form-node.ts emptyForm': ofSchemas((schema) => emptyForm(schema, schema)),
  'packages/gateway/src/inbox/form/form-node.ts nextItem': ofSchemas((schema) =>
    nextItem({ kind: 'list', items: [], schema }, schema),
  ),
  'packages/gateway/src/inbox/form/form-node.ts nextMember': ofSchemas((schema, text) =>
    nextMember({ kind: 'object', members: [], schema }, text, schema),
  ),
  'packages/gateway/src/inbox/form/form-node.ts typeOf': ofSchemas(typeOf),
  'packages/gateway/src/inbox/request/named-accounts.ts otherAccount': [
    (text) => otherAccount('ann', text, []),
    (text) => otherAccount('ann', `DE89${text}`, [{ name: 'iban', format: 'text', value: { text: `GB29${text}` } }]),
  ],
  'packages/gateway/src/inbox/request/what-changed.ts valueChanges': [
    ...objects((args) => valueChanges(args, { ...args, to: 1 })),
    ...values((value) => valueChanges(value, {})),
  ],
  'packages/gateway/src/inbox/form/read-form.ts placedProblems': [
    placedProblems,
    (text) => placedProblems(`arguments.${text}: a`),
    (text) => placedProblems(`arguments["${text}"]: a`),
    (text) => placedProblems(' arguments.a'.repeat(text.length / 12)),
    (text) => placedProblems(' arguments["\\'.repeat(text.length / 13)),
    (text) =>
      placedProblems(
        pieces(text)
          .map((piece) => `arguments.a: ${piece}`)
          .join('; '),
      ),
  ],
  'packages/gateway/src/inbox/list/filters.ts readQuery': { places: 3, runs: [(text) => readQuery(query(text))] },
  'packages/gateway/src/inbox/palette/commands.ts foundCommands': [
    (text) => foundCommands([{ id: 'a', text: 'Settings', group: 'Do', act: 'settings' }], text),
    (text) => foundCommands([{ id: 'a', text, group: 'Do', act: 'settings' }], 'settings'),
    (text) => foundCommands([{ id: 'a', text: 'a', group: 'Do', act: 'settings' }], 'a '.repeat(text.length / 2)),
  ],
  'packages/gateway/src/inbox/state/paths.ts temporalHref': [
    (text) => temporalHref('https://a.example', text),
    (text) => temporalHref(text, 'w'),
  ],
  'packages/gateway/src/inbox/run/run-fields.ts readRunFilters': {
    places: 3,
    runs: [(text) => readRunFilters(query(text))],
  },
  'packages/gateway/src/inbox/run/run-fields.ts isModeChoice': isModeChoice,
  'packages/gateway/src/inbox/state/paths.ts matchPath': [
    (text) => matchPath('/runs/:id', `/runs/${text}`),
    (text) => matchPath('/requests/:run/:id', text),
    (text) => matchPath('/runs/:id', `/runs/${'%41'.repeat(text.length / 3)}`),
  ],
  'packages/gateway/src/inbox/state/texts.ts leftText': (text) => leftText(text, 0),
  'packages/gateway/src/inbox/state/texts.ts ageText': (text) => ageText(text, 0),
  'packages/gateway/src/http/inbox/open-view.ts isUrgent': (text) => isUrgent(text, text, 0),
  'packages/gateway/src/http/inbox/open-view.ts searchWords': (text) => searchWords(text),
};
