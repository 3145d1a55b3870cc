import { failedAdvice, raise, readAdvice, readAdvisorAnswer } from '../../../src/core/policy/advice.ts';
import { changesTooOften, previewChangesTooOften } from '../../../src/core/policy/definition-change.ts';
import { gatedArguments, gatedValues } from '../../../src/core/policy/gated-activity.ts';
import { unmatched } from '../../../src/core/policy/grants.ts';
import { riskDefault } from '../../../src/core/policy/layer-answer.ts';
import { isMode, modeReason } from '../../../src/core/policy/modes.ts';
import { nestedRunId, nestingProblem } from '../../../src/core/policy/nesting.ts';
import { oneRule } from '../../../src/core/policy/one-rule.ts';
import { withModelCost, withNestedCost } from '../../../src/core/policy/run-cost.ts';
import { readyCall } from '../../../src/core/policy/ruling.ts';
import { namesToShow } from '../../../src/core/policy/run-side.ts';
import { allowsOnlyCommand } from '../../../src/core/policy/whole-call.ts';
import { absentReads } from '../../../src/policy-file/absent-reads.ts';
import { evaluated, conditionReads } from '../../../src/policy-file/condition-constants.ts';
import { expressionOf } from '../../../src/policy-file/condition-kinds.ts';
import { conditionProblem, conditionWarnings, equalitiesOf } from '../../../src/policy-file/condition-problem.ts';
import { documentValueAt, explainShape, prototypeKeys } from '../../../src/policy-file/explain-shape.ts';
import { globsOverlap } from '../../../src/policy-file/globs-overlap.ts';
import { patternWarnings } from '../../../src/policy-file/lint-patterns.ts';
import { formatProblems, parsePolicy } from '../../../src/policy-file/parse-policy.ts';
import { parseRunPolicy } from '../../../src/policy-file/parse-run-policy.ts';
import { durationMs, policyShape } from '../../../src/policy-file/shape.ts';
import { readPolicyText, decodeUtf8 } from '../../../src/policy-file/text.ts';
import { runPolicy, readRunPolicy } from '../../../src/activities/load-agent.ts';
import { loadPolicy } from '../../../src/worker/activity-side.ts';
import type { Assessment } from '../../../src/core/assess/assessment.ts';
import { almostWithin, escapable, type Inputs, objects, pieces, type Run, values } from './input.ts';

const longestPattern = 256;
/** In how many places a text costs as much as others in one: YAML is parsed, composed and read, token by token. */
const placesOfYaml = 60;
const placesOfDocuments = 12;
const longestCondition = 1_000;
const assessment = {
  severity: 'low',
  reasons: [],
  affectedResources: [],
  reversible: true,
  recommendations: [],
  requiresApproval: false,
} satisfies Assessment;
const calling = (text: string) => readyCall({ tool: text, args: { a: text }, risk: 'write' } as never, { counts: {} });
const usage = { inputTokens: 1, outputTokens: 1 };

/** Conditions that hold the text: as it is, as the texts that they compare, as what they read. */
const conditions = (read: (source: string) => unknown) => ({
  most: longestCondition - 20,
  runs: [
    read,
    (text: string) => read(`args.a == ${JSON.stringify(escapable(text))}`),
    (text: string) => read(`args[${JSON.stringify(escapable(text))}] > 1`),
    (text: string) =>
      read(
        pieces(text)
          .map(() => 'args.a == 1')
          .join(' && '),
      ),
  ],
});
const rule = (pattern: string) => ({ id: 'a', pattern, action: 'ask' as const });
/** Documents that hold the text in each of the places of a rule, and in places that no policy has. */
const policies: readonly ((text: string) => object)[] = [
  (text) => ({ version: 1, rules: [{ pattern: text, action: 'ask' }] }),
  (text) => ({ version: 1, rules: [{ pattern: 'pay', action: 'ask', when: text, [text]: text }] }),
  (text) => ({ version: 1, rules: pieces(text).map((piece) => ({ pattern: piece, action: 'deny', reason: piece })) }),
  (text) => ({ version: 1, rules: [{ pattern: 'pay', action: 'ask', args: byPiece(text, () => text.slice(0, 50)) }] }),
  (text) => ({ version: 1, agents: byPiece(text, () => ({ rules: [] })), rules: [] }),
  (text) => ({ version: 1, rules: [{ pattern: 'pay', action: 'ask', examples: pieces(text) }] }),
  (text) => ({ version: 1, rules: [], risk_defaults: byPiece(text, (piece) => piece), approval: { show: text } }),
  (text) => ({ ...Object.fromEntries(pieces(text).map((piece) => [piece, 1])), version: text }),
];
const ofPolicies = (read: (document: object) => unknown): Run[] =>
  policies.map((policy) => (text) => read(policy(text)));
const asTexts = (read: (text: string) => unknown): Run[] => [
  read,
  ...ofPolicies((document) => read(JSON.stringify(document))),
  (text) => read(`version: 1\nrules:\n- pattern: ${text}\n  action: ask\n`),
  (text) =>
    read(
      `version: 1\nrules:\n${pieces(text)
        .map((piece) => `- pattern: "${piece}"\n  action: ask`)
        .join('\n')}`,
    ),
  (text) => read(`version: 1\nrules: [${text}\n`),
  (text) => read(`version: 1\nrules: # ${text}\n- pattern: |\n   ${text}\n`),
];

function byPiece<Value>(text: string, valueOf: (piece: string) => Value): Record<string, Value> {
  return Object.fromEntries(pieces(text).map((piece, index) => [`${index}${piece}`, valueOf(piece)]));
}

export const policyInputs: Inputs = {
  'core/policy/advice.ts readAdvisorAnswer': [
    (text) => readAdvisorAnswer({ answer: 'ask', reason: text }),
    (text) => readAdvisorAnswer({ answer: text, severity: text }),
    ...values(readAdvisorAnswer),
  ],
  'core/policy/advice.ts readAdvice': [
    (text) => readAdvice([{ name: text }], [{ advisor: text, answer: 'ask', reason: text }]),
    (text) => readAdvice([{ name: 'a' }], [...pieces(text), { advisor: 'a', failure: text }]),
    ...values((value) => readAdvice([{ name: 'a' }], value)),
  ],
  'core/policy/advice.ts failedAdvice': (text) => failedAdvice(text, text),
  'core/policy/advice.ts raise': (text) =>
    raise({ ...assessment, reasons: pieces(text) }, { severity: 'critical', advisor: text }),
  'core/policy/definition-change.ts changesTooOften': changesTooOften,
  'core/policy/definition-change.ts previewChangesTooOften': previewChangesTooOften,
  'core/policy/gated-activity.ts gatedArguments': [
    ...values((value) => gatedArguments({ name: 'pay', argumentNames: undefined }, [value])),
    (text) => gatedArguments({ name: text, argumentNames: undefined }, pieces(text)),
  ],
  'core/policy/gated-activity.ts gatedValues': [
    ...objects((args) => gatedValues({ name: 'pay', argumentNames: undefined }, args)),
    ...objects((args) => gatedValues({ name: 'pay', argumentNames: ['to', 'list'] }, args)),
    (text) =>
      gatedValues(
        { name: text, argumentNames: undefined },
        Object.fromEntries(Array.from({ length: text.length / 4 }, (_, index) => [`$${index + 1}`, text])),
      ),
    (text) => gatedValues({ name: 'pay', argumentNames: undefined }, { [`$${'9'.repeat(text.length)}`]: text }),
  ],
  'core/policy/grants.ts unmatched': (text) =>
    unmatched({ kind: 'arguments', match: byPiece(text, (piece) => piece) } as never, [text, ...pieces(text)]),
  'core/policy/layer-answer.ts riskDefault': (text) => riskDefault({}, { tool: text, risk: 'write' }),
  'core/policy/modes.ts isMode': isMode,
  'core/policy/modes.ts modeReason': (text) => modeReason('default', 'deny', text),
  'core/policy/nesting.ts nestedRunId': (text) => nestedRunId(text, text),
  'core/policy/nesting.ts nestingProblem': (text) => nestingProblem({ depth: 0, before: 0, workflowId: text }),
  'core/policy/one-rule.ts oneRule': {
    most: longestPattern,
    runs: [
      (text) => oneRule({ pattern: text }).denies(calling(text)),
      (text) => oneRule({ args: { a: text } }).allows(calling(text)),
    ],
  },
  'core/policy/run-cost.ts withModelCost': [
    (text) => withModelCost(undefined, undefined, text, usage),
    (text) => withModelCost(undefined, { currency: 'EUR', models: {} }, text, usage),
  ],
  'core/policy/run-cost.ts withNestedCost': [
    (text) => withNestedCost(undefined, undefined, text, { amount: 1, currency: text }),
    (text) =>
      withNestedCost(undefined, { currency: 'EUR', models: {} }, 'a', {
        amount: 1,
        currency: 'EUR',
        unpriced: [text, ...pieces(text)],
      }),
  ],
  'core/policy/run-side.ts namesToShow': (text) =>
    namesToShow({ run: { approval: { show: { 'pay*': ['to'] } } } } as never, text, pieces(text)),
  'core/policy/whole-call.ts allowsOnlyCommand': [
    (text) => allowsOnlyCommand([text]),
    (text) => allowsOnlyCommand(pieces(text)),
  ],
  'policy-file/absent-reads.ts absentReads': conditions((when) =>
    absentReads({ ...rule('pay'), when, args: { a: when } }),
  ),
  'policy-file/condition-kinds.ts expressionOf': conditions(expressionOf),
  'policy-file/condition-constants.ts evaluated': conditions(evaluated),
  'policy-file/condition-problem.ts conditionProblem': conditions(conditionProblem),
  'policy-file/condition-problem.ts conditionWarnings': conditions(conditionWarnings),
  'policy-file/condition-problem.ts equalitiesOf': conditions(equalitiesOf),
  'policy-file/condition-constants.ts conditionReads': conditions((source) => conditionReads(source, ['args'])),
  'policy-file/explain-shape.ts explainShape': {
    places: 3,
    runs: ofPolicies((document) =>
      policyShape
        .safeParse(document)
        .error?.issues.slice(0, 20)
        .map((issue) => explainShape(issue, document)),
    ),
  },
  'policy-file/explain-shape.ts documentValueAt': [
    (text) => documentValueAt({ [text]: 1 }, [text]),
    (text) => documentValueAt(text, pieces(text)),
  ],
  'policy-file/globs-overlap.ts globsOverlap': {
    most: longestPattern,
    runs: [
      (text) => globsOverlap(text, text),
      (text) => globsOverlap(`*${text}`, almostWithin(text)),
      // Its work is the one length times the other.
      (text) => globsOverlap('*a'.repeat(text.length / 8), '*b'.repeat(text.length / 8)),
    ],
  },
  'policy-file/lint-patterns.ts patternWarnings': {
    most: longestPattern,
    runs: [
      (text) => patternWarnings(rule(text)),
      (text) => patternWarnings(rule(`bash:${text}`)),
      (text) => patternWarnings({ ...rule('pay'), action: 'allow', args: { [text]: text }, when: text, agent: text }),
    ],
  },
  'policy-file/shape.ts durationMs': durationMs,
  'policy-file/parse-policy.ts formatProblems': (text) =>
    formatProblems('a', [
      { message: text, path: text, line: 1, column: 1 },
      ...pieces(text).map((message) => ({ message, path: message })),
    ]),
  'policy-file/parse-policy.ts parsePolicy': {
    places: placesOfYaml,
    runs: asTexts(parsePolicy),
  },
  'policy-file/parse-run-policy.ts parseRunPolicy': { places: placesOfDocuments, runs: ofPolicies(parseRunPolicy) },
  'policy-file/explain-shape.ts prototypeKeys': [
    ...values((value) => prototypeKeys(value)),
    (text) => prototypeKeys(pieces(text).map(() => JSON.parse('{"a":{"__proto__":1}}') as object)),
  ],
  'policy-file/text.ts readPolicyText': { places: placesOfYaml, runs: asTexts(readPolicyText) },
  'policy-file/text.ts decodeUtf8': [
    (text) => decodeUtf8(new TextEncoder().encode(text)),
    (text) => decodeUtf8(Buffer.concat([Buffer.from(text), Buffer.from([0xff])])),
    (text) => decodeUtf8(Buffer.from(text, 'utf16le')),
  ],
  'activities/load-agent.ts runPolicy': {
    places: placesOfDocuments,
    runs: ofPolicies((document) => runPolicy(document, undefined)),
  },
  'activities/load-agent.ts readRunPolicy': {
    places: placesOfDocuments,
    runs: ofPolicies((document) => readRunPolicy(document, {})),
  },
  'worker/activity-side.ts loadPolicy': { places: placesOfYaml, runs: asTexts((text) => loadPolicy(text, 'a', {})) },
};
