import type { rulingFiles } from './ruling-files.ts';

export interface Explanation {
  file: (typeof rulingFiles)[number];
  /** The line without indentation. */
  code: string;
  /** The original text, and the replacements by the mutants. */
  changes: readonly (readonly [original: string, replacement: string])[];
  /** Why no test can detect it. */
  why: string;
}

/** The surviving mutants, each with the reason why it may survive. */
export const explained: readonly Explanation[] = [
  {
    file: 'core/policy/ruling',
    code: 'const { digest, atMs, grants = [] } = context;',
    changes: [['[]', '["Stryker was here"]']],
    why: 'A text is no approved grant.',
  },
  {
    file: 'core/policy/ruling',
    code: '...(call.shell !== undefined && { held: new Map() }),',
    changes: [['call.shell !== undefined', 'true']],
    why: 'Each condition of a call that is no command is evaluated once anyway.',
  },
  {
    file: 'core/policy/ruling',
    code: "return ask?.always ?? (rule === null ? 'tool' : defaultAlways(call));",
    changes: [["'tool'", '""']],
    why: 'What admits nothing that is known leaves the narrowest of the others, and of none `tool`.',
  },
  {
    file: 'core/policy/ruling',
    code: 'meter: RulingMeter = { work: 0 },',
    changes: [['{ work: 0 }', '{}']],
    why: 'Nothing reads what this one counts.',
  },
  {
    file: 'core/policy/ruling',
    code: 'export function readyCall(call: RuledCall, context: RulingContext, meter: RulingMeter = { work: 0 }): LayerCall {',
    changes: [['{ work: 0 }', '{}']],
    why: 'Nothing reads what this one counts.',
  },
  {
    file: 'core/policy/whole-call',
    code: 'if (undeclared.length === 0) return [];',
    changes: [['undeclared.length === 0', 'false']],
    why: 'It saves time: of no arguments, none is left out.',
  },
  {
    file: 'core/policy/grants',
    code: 'if (widest === false) return undefined;',
    changes: [
      ['widest === false', 'false'],
      ['false', 'true'],
    ],
    why: 'The next line says the same, as `false` is none of the kinds; this one is for the compiler.',
  },
  {
    file: 'core/policy/grants',
    code: "return command !== undefined && scope.kind === 'arguments' && scope.match[command.subject] === command.text;",
    changes: [["scope.kind === 'arguments'", 'true']],
    why: 'The compiler wants it: only grants of this kind come here.',
  },
  {
    file: 'core/policy/grants',
    code: "if (scope.kind !== 'arguments' || Object.keys(scope.match).length === 0) return false;",
    changes: [["scope.kind !== 'arguments'", 'false']],
    why: 'The compiler wants it: only grants of this kind come here.',
  },
  {
    file: 'core/policy/grants',
    code: "return !('problem' in glob) && affordable(glob, subjects.field(field), subjects, 'every') === true;",
    changes: [["'every'", '""']],
    why: 'Whatever is not `any` is read as `every`.',
  },
  {
    file: 'core/policy/compiled-policy',
    code: "return action === 'allow' ? 'every' : 'any';",
    changes: [["'every'", '""']],
    why: 'Whatever is not `any` is read as `every`.',
  },
  {
    file: 'core/policy/compiled-policy',
    code: 'const subjects = { ...ofCall, meter: { work: 0 } };',
    changes: [['{ work: 0 }', '{}']],
    why: 'Nothing reads what this one counts.',
  },
  {
    file: 'core/policy/part-matchers',
    code: 'while (outer !== undefined && this.#parts[outer] !== undefined && chain.length < this.#parts.length) {',
    changes: [['outer !== undefined', 'true']],
    why: 'The compiler wants it: no part has the index undefined.',
  },
  {
    file: 'core/policy/part-matchers',
    code: 'const words = globs.flatMap(({ literals }) => literals[0]!.slice(separator.length).split(/\\s+/));',
    changes: [
      ['literals[0]!.slice(separator.length)', 'literals[0]!'],
      ['/\\s+/', '/\\s/'],
    ],
    why: 'The next line takes what stands before a separator away; and no wrapper has an empty word in its name.',
  },
  {
    file: 'core/policy/layer-answer',
    code: 'if (call.shell === undefined && whole !== undefined) {',
    changes: [
      ['call.shell === undefined && whole !== undefined', 'false'],
      ['whole !== undefined', 'true'],
      ['whole !== undefined', 'whole === undefined'],
      [
        '{\n    const likely = index()?.mayMatch(call.subjects.args());\n    return partAnswers(policy, matchesOfPart(likely ?? all, whole, call), call);\n  }',
        '{}',
      ],
    ],
    why: 'The quick way for a call of one part; the way below gives the same answer. There is always a part.',
  },
  {
    file: 'core/policy/layer-answer',
    code: 'if (answers.length === 1) return answers;',
    changes: [['answers.length === 1', 'false']],
    why: 'Quicker; of one answer the rest gives that answer.',
  },
  {
    file: 'core/policy/layer-answer',
    code: "const { action } = applyMode(mode, 'ask', 'ask', call.mode);",
    changes: [["'ask'", '""']],
    why: 'No mode makes a deny of an ask because of what it was before; only a deny is looked for.',
  },
  {
    file: 'core/policy/modes',
    code: 'acceptEdits: { ...standard, none: { writeAllow: true } },',
    changes: [['true', 'false']],
    why: 'The key says it; its value has one type only.',
  },
  {
    file: 'core/policy/compiled-policy',
    code: 'const rarest = keys.reduce((best, key) => (ruleCount.get(key)! < ruleCount.get(best)! ? key : best));',
    changes: [['ruleCount.get(key)! < ruleCount.get(best)!', 'ruleCount.get(key)! <= ruleCount.get(best)!']],
    why: 'Of two that are as rare either will do.',
  },
  {
    file: 'core/match/matching',
    code: 'meter: RulingMeter = { work: 0 },',
    changes: [['{ work: 0 }', '{}']],
    why: 'Nothing reads what this one counts.',
  },
  {
    file: 'core/policy/limits',
    code: 'timeoutMs: timeoutOf(layers, ruling?.ask?.by ?? []),',
    changes: [['[]', '["Stryker was here"]']],
    why: 'A text stands in no layer.',
  },
  {
    file: 'core/policy/modes',
    code: "case 'deny':",
    changes: [
      ["case 'deny':\n      return false;", "case 'deny':"],
      ["'deny'", '""'],
    ],
    why: 'Without the case, the function returns undefined, which counts as false.',
  },
  {
    file: 'core/policy/modes',
    code: "case 'allow':",
    changes: [["'allow'", '""']],
    why: 'Without the case, the function returns undefined as well.',
  },
  {
    file: 'core/policy/ask-terms',
    code: 'const timesMs = rules.flatMap(({ escalate = [] }) => escalate.map(({ afterMs }) => afterMs));',
    changes: [['[]', '["Stryker was here"]']],
    why: 'A time that is none comes last and delays nothing.',
  },
  {
    file: 'core/policy/ask-terms',
    code: "return layer === 'ceiling' ? layer : `${parent ?? 'run'}`;",
    changes: [["'run'", '""']],
    why: 'Every text will do that is no number.',
  },
  {
    file: 'core/policy/ask-terms',
    code: 'const asking = withSpacedSteps(ruling.ask?.by ?? [], leastMs);',
    changes: [['[]', '["Stryker was here"]']],
    why: 'A text has no terms, so it asks by the defaults, as nothing does.',
  },
  {
    file: 'core/policy/ask-terms',
    code: "const { onTimeout: byPolicy = 'deny' } = policy.approval;",
    changes: [["'deny'", '""']],
    why: 'Whatever is not `allow` denies.',
  },
  {
    file: 'core/policy/run-limits',
    code: 'export function runLimitsOf({ ceiling, parents = [], run }: PolicyLayers): RunLimits {',
    changes: [['[]', '["Stryker was here"]']],
    why: 'A text has no limits.',
  },
  {
    file: 'core/policy/advice',
    code: 'const items: unknown[] = Array.isArray(recorded) ? recorded : [];',
    changes: [['[]', '["Stryker was here"]']],
    why: 'A text is no answer.',
  },
  {
    file: 'core/policy/advice',
    code: 'for (const { advisor } of ask?.by ?? []) {',
    changes: [['[]', '["Stryker was here"]']],
    why: 'A text names no advisor.',
  },
  {
    file: 'core/policy/advice',
    code: 'if (!isAsked(ruling.action) || advice.length === 0) return ruling;',
    changes: [
      ['!isAsked(ruling.action) || advice.length === 0', 'false'],
      ['!isAsked(ruling.action) || advice.length === 0', '!isAsked(ruling.action) && advice.length === 0'],
      ['advice.length === 0', 'false'],
    ],
    why: 'It says the law first: what does not ask names no advisor, and no advice counts for it.',
  },
  {
    file: 'core/policy/advice',
    code: 'const by = ruling.ask?.by ?? [];',
    changes: [['[]', '["Stryker was here"]']],
    why: 'Where nothing asks, no advice counts.',
  },
  {
    file: 'core/policy/advice',
    code: 'if (advisor === undefined || advisor === false || advisor.mayApprove !== true) return false;',
    changes: [
      ['advisor === false', 'false'],
      ['false', 'true'],
    ],
    why: 'The compiler wants it: `false` may not approve either.',
  },
];
