import { celArguments } from '../../../src/core/match/cel.ts';
import { compileCondition } from '../../../src/core/match/condition.ts';
import { exactGlob } from '../../../src/card/narrowest-scope.ts';
import { expressionSize } from '../../../src/core/match/expression-size.ts';
import { globTokens, translateGlob } from '../../../src/core/match/glob-syntax.ts';
import { compileGlob, globSubject, listSubject, segmentedSubject } from '../../../src/core/match/glob.ts';
import { callSubjects, compileFieldGlob, compilePattern, partSubjects } from '../../../src/core/match/matching.ts';
import { isCard, isEmail, isIban, isPhone, isWrittenPassword } from '../../../src/core/redact/detectors.ts';
import { isExempt, isStatement, namesAccount, saysOnWhat } from '../../../src/core/redact/exempt-names.ts';
import {
  hostsIn,
  findSensitive,
  redactText,
  withPlaceholders,
  namesSecret,
  redactSecrets,
} from '../../../src/core/redact/find-sensitive.ts';
import {
  HiddenText,
  hiddenTexts,
  hiderIn,
  joinRedactions,
  sameTexts,
  wholeRedaction,
  withoutHidden,
} from '../../../src/core/redact/join-redactions.ts';
import { keptValues } from '../../../src/core/redact/kept-values.ts';
import {
  sensitiveKinds,
  namedKind,
  accountPlaceholder,
  grantsAccess,
  placeholdersNamed,
  valuePlaceholder,
  withoutDigest,
} from '../../../src/core/redact/kinds.ts';
import { leavesOf, valueAt, type Redaction, redactionOf, withoutActions } from '../../../src/core/redact/redaction.ts';
import { findOwn } from '../../../src/redact/own-patterns.ts';
import { redactJson } from '../../../src/redact/redact-json.ts';
import { LineRedactor } from '../../../src/redact/redact-lines.ts';
import { restorePlaceholders } from '../../../src/redact/restore-placeholders.ts';
import { isOption, readOptions } from '../../../src/shell/options.ts';
import { maxShellLength } from '../../../src/core/shell/parts.ts';
import { splitShell } from '../../../src/shell/split.ts';
import { lastSegment, unwrap } from '../../../src/shell/unwrap.ts';
import { mayBecome, plainWord } from '../../../src/shell/words.ts';
import { wrappers } from '../../../src/shell/wrappers.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { almostWithin, documents, type Inputs, objects, pieces, type Run, values } from './input.ts';

const longestPattern = 2_048;
const longestCondition = 1_000;
const settings = { kinds: sensitiveKinds, patterns: [], also: [] };
const redact = (args: JsonObject): Redaction => redactionOf(args, { settings });
const ownPattern = findOwn([{ name: 'TICKET', pattern: '[A-Z]{2,5}-[0-9]{1,6}' }])!;
/** Half of the values are secret, and the other half repeats them. */
const secretsOf = (text: string): JsonObject => ({
  password: pieces(text).filter((_, index) => index % 2 === 0),
  list: pieces(text).filter((_, index) => index % 2 === 1),
});
const withRedaction = (call: (args: JsonObject, redaction: Redaction) => unknown): Run[] => [
  (text) => call(secretsOf(text), redact(secretsOf(text))),
  (text) => call({ to: text, password: text }, redact({ to: text, password: text })),
];

export const matchInputs: Inputs = {
  'core/match/condition.ts compileCondition': {
    most: longestCondition,
    runs: [compileCondition, (text) => compileCondition(`args.a == '${text.slice(12)}'`)],
  },
  'core/match/cel.ts celArguments': objects((args) => celArguments(args)),
  'card/narrowest-scope.ts exactGlob': values(exactGlob),
  'core/match/expression-size.ts expressionSize': expressionSize,
  'core/match/glob-syntax.ts globTokens': { most: longestPattern, runs: [globTokens] },
  'core/match/glob-syntax.ts translateGlob': { most: longestPattern, runs: [translateGlob] },
  'core/match/glob.ts compileGlob': { most: longestPattern, runs: [compileGlob] },
  'core/match/glob.ts globSubject': globSubject,
  'core/match/glob.ts listSubject': (text) => listSubject(text, pieces(text).map(globSubject)),
  'core/match/glob.ts segmentedSubject': (text) => segmentedSubject(pieces(text), { command: 1, isSameProgram: true }),
  'core/match/matching.ts compilePattern': [compilePattern, (text) => compilePattern(`a:${text}`)],
  'core/match/matching.ts compileFieldGlob': compileFieldGlob,
  'core/match/matching.ts partSubjects': (text) =>
    partSubjects(callSubjects({ tool: 'a', args: {} }), 'command', text).args(),
  'core/match/matching.ts callSubjects': [
    ...objects((args) => callSubjects({ tool: 'a', args }).args()),
    (text) => callSubjects({ tool: text, args: {} }),
  ],
  'core/redact/detectors.ts isCard': isCard,
  'core/redact/detectors.ts isIban': (text) => isIban(text, ''),
  'core/redact/detectors.ts isEmail': isEmail,
  'core/redact/detectors.ts isPhone': isPhone,
  'core/redact/detectors.ts isWrittenPassword': isWrittenPassword,
  'core/redact/exempt-names.ts namesAccount': (text) => namesAccount([text]),
  'core/redact/exempt-names.ts saysOnWhat': (text) => saysOnWhat([text]),
  'core/redact/exempt-names.ts isStatement': [(text) => isStatement([text]), (text) => isStatement(pieces(text))],
  'core/redact/exempt-names.ts isExempt': [(text) => isExempt([text]), (text) => isExempt(pieces(text))],
  'core/redact/redaction.ts withoutActions': [
    (text) => withoutActions(text, [[0, text.length, '[PASSWORD]']]),
    (text) => withoutActions(text, [[0, text.length, '[PASSWORD]']], true),
    (text) => withoutActions(`-----BEGIN A-----\n${text}`, [[0, text.length + 18, '[PRIVATE_KEY]']]),
    (text) => withoutActions(`-----BEGIN A-----\n${text}`, [[0, text.length + 18, '[PRIVATE_KEY]']], true),
  ],
  'shell/words.ts mayBecome': [
    (text) => mayBecome({ ...plainWord(text), glob: { before: text, after: text } }, text, { whole: true }),
    (text) => mayBecome({ ...plainWord(text), glob: { before: text, after: '' } }, `${text}a`, { whole: false }),
  ],
  'core/redact/find-sensitive.ts hostsIn': [
    hostsIn,
    (text) => hostsIn(`https:${text}`),
    (text) => hostsIn(`a ${text}`),
  ],
  'core/redact/find-sensitive.ts findSensitive': [
    (text) => findSensitive(text),
    (text) => findSensitive(text, sensitiveKinds, ownPattern),
  ],
  'core/redact/find-sensitive.ts withPlaceholders': (text) => withPlaceholders(text, findSensitive(text)),
  'core/redact/find-sensitive.ts redactText': (text) => redactText(text),
  'core/redact/join-redactions.ts joinRedactions': objects((args) =>
    joinRedactions(redact(args), wholeRedaction(args)),
  ),
  'core/redact/join-redactions.ts wholeRedaction': objects(wholeRedaction),
  'core/redact/join-redactions.ts sameTexts': [
    ...withRedaction((args, { values: found }) => sameTexts(args, args, found)),
    (text) => {
      const args = { password: almostWithin(text), text };
      return sameTexts(args, args, redact(args).values);
    },
  ],
  'core/redact/join-redactions.ts withoutHidden': withRedaction((args, { values: found }) =>
    withoutHidden(JSON.stringify(args).slice(0, 4_000), args, found),
  ),
  'core/redact/join-redactions.ts hiderIn': [
    ...withRedaction((args, { values: found }) => hiderIn(args, args, found)?.('a')),
    ...withRedaction((args, { values: found }) => hiderIn('b'.repeat(JSON.stringify(args).length), args, found)?.('a')),
  ],
  'core/redact/join-redactions.ts HiddenText.spansIn': (text) =>
    new HiddenText('[]', almostWithin(text), '[PASSWORD]').spansIn(text),
  'core/redact/join-redactions.ts HiddenText.overlap': (text) =>
    new HiddenText('[]', `${text}!`, '[PASSWORD]').overlap(text),
  'core/redact/join-redactions.ts hiddenTexts': withRedaction((args, { values: found }) => hiddenTexts(args, found)),
  'core/redact/kept-values.ts keptValues': withRedaction((args, { values: found }) => keptValues(args, found)),
  'core/redact/redaction.ts leavesOf': values((value) => leavesOf(value)),
  'core/redact/redaction.ts valueAt': objects((value) => valueAt(value, ['list', 0])),
  'core/redact/kinds.ts grantsAccess': grantsAccess,
  'core/redact/kinds.ts accountPlaceholder': accountPlaceholder,
  'core/redact/kinds.ts valuePlaceholder': ['TICKET', 'IBAN', 'EMAIL'].map(
    (name) => (text: string) => valuePlaceholder(name, text),
  ),
  'core/redact/kinds.ts withoutDigest': withoutDigest,
  'core/redact/kinds.ts placeholdersNamed': (text) => placeholdersNamed(['TICKET'], pieces(text)),
  'core/redact/kinds.ts namedKind': [(text) => namedKind(text, '1'), (text) => namedKind('phone', text)],
  'core/redact/redaction.ts redactionOf': objects(redact),
  'redact/redact-json.ts redactJson': documents((text) => redactJson(text, sensitiveKinds)),
  'redact/redact-lines.ts LineRedactor.redact': (text) => new LineRedactor(sensitiveKinds).redact(text),
  'core/redact/find-sensitive.ts redactSecrets': redactSecrets,
  'core/redact/find-sensitive.ts namesSecret': namesSecret,
  'redact/restore-placeholders.ts restorePlaceholders': [
    ...withRedaction((args, { values: found }) => restorePlaceholders(args, keptValues(args, found))),
    ...objects((args) => restorePlaceholders(args, [])),
  ],
  'shell/options.ts readOptions': {
    most: maxShellLength,
    runs: [
      (text) => readOptions(wrappers.get('env')!, words(text), true),
      (text) => readOptions(wrappers.get('sudo')!, [plainWord(text)], false),
    ],
  },
  'shell/options.ts isOption': [(text) => isOption(text, '--exec'), (text) => isOption(`-${text}`, '-x')],
  'shell/split.ts splitShell': {
    most: maxShellLength,
    runs: [
      splitShell,
      ...['test -v ', 'bash -c ', 'env -S ', 'xargs -Z ', 'git -c a=', 'find . -exec ', 'cat <<a\n', 'uv run -a '].map(
        (program): Run =>
          (text) =>
            splitShell(program + text.slice(program.length)),
      ),
      (text) => splitShell(`test -v '$(${text.slice(13)}'`),
    ],
  },
  'shell/unwrap.ts unwrap': {
    most: maxShellLength,
    runs: ['env', 'git', 'xargs', 'find', 'tar', 'docker', 'parallel', 'python', 'flock'].map(
      (program): Run =>
        (text) =>
          unwrap([plainWord(program), ...words(text)]),
    ),
  },
  'shell/unwrap.ts lastSegment': lastSegment,
};

function words(text: string) {
  return text.split(' ').map(plainWord);
}
