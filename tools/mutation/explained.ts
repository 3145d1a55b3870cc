export interface Explanation {
  /** The file's name in src. */
  file: string;
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
    file: 'policy/ruling',
    code: 'const { digest, atMs, grants = [] } = context;',
    changes: [['[]', '["Stryker was here"]']],
    why: 'A text is no approved grant.',
  },
  {
    file: 'policy/ruling',
    code: '...(call.shell !== undefined && { held: new Map() }),',
    changes: [['call.shell !== undefined', 'true']],
    why: 'Each condition of a call that is no command is evaluated once anyway.',
  },
  {
    file: 'policy/ruling',
    code: "return always ?? (rule === null ? 'tool' : defaultAlways(call));",
    changes: [["'tool'", '""']],
    why: 'What admits nothing that is known leaves the narrowest of the others, and of none `tool`.',
  },
  {
    file: 'policy/ruling',
    code: 'return ask !== undefined || (rule !== null && always !== undefined);',
    changes: [['rule !== null', 'true']],
    why: 'An answer without a rule never says which grants it admits.',
  },
  {
    file: 'policy/ruling',
    code: 'meter: RulingMeter = { work: 0 },',
    changes: [['{ work: 0 }', '{}']],
    why: 'Nobody reads what this one counts.',
  },
  {
    file: 'policy/ruling',
    code: 'export function readyCall(call: RuledCall, context: RulingContext, meter: RulingMeter = { work: 0 }): LayerCall {',
    changes: [['{ work: 0 }', '{}']],
    why: 'Nobody reads what this one counts.',
  },
  {
    file: 'policy/whole-call',
    code: 'if (undeclared.length === 0) return [];',
    changes: [['undeclared.length === 0', 'false']],
    why: 'It saves time: of no arguments, none is left out.',
  },
  {
    file: 'policy/grants',
    code: 'widest !== false &&',
    changes: [
      ['widest !== false', 'true'],
      ['false', 'true'],
    ],
    why: 'The next line says the same, as `false` is none of the kinds; this one is for the compiler.',
  },
  {
    file: 'policy/grants',
    code: "return command !== undefined && scope.kind === 'arguments' && scope.match[command.subject] === command.text;",
    changes: [["scope.kind === 'arguments'", 'true']],
    why: 'The compiler wants it: only grants of this kind come here.',
  },
  {
    file: 'policy/grants',
    code: "if (scope.kind !== 'arguments' || Object.keys(scope.match).length === 0) return false;",
    changes: [["scope.kind !== 'arguments'", 'false']],
    why: 'The compiler wants it: only grants of this kind come here.',
  },
  {
    file: 'policy/grants',
    code: "return !('problem' in glob) && affordable(glob, subjects.field(field), subjects, 'every') === true;",
    changes: [["'every'", '""']],
    why: 'Whatever is not `any` is read as `every`.',
  },
  {
    file: 'policy/compiled-policy',
    code: "return action === 'allow' ? 'every' : 'any';",
    changes: [["'every'", '""']],
    why: 'Whatever is not `any` is read as `every`.',
  },
  {
    file: 'policy/compiled-policy',
    code: 'const subjects = { ...call, meter: { work: 0 } };',
    changes: [['{ work: 0 }', '{}']],
    why: 'Nobody reads what this one counts.',
  },
  {
    file: 'policy/part-matchers',
    code: 'const words = globs.flatMap(({ literals }) => literals[0]!.slice(separator.length).split(/\\s+/));',
    changes: [
      ['literals[0]!.slice(separator.length)', 'literals[0]!'],
      ['/\\s+/', '/\\s/'],
    ],
    why: 'The next line takes what stands before a separator away; and no wrapper has an empty word in its name.',
  },
  {
    file: 'policy/layer-answer',
    code: 'if (call.shell === undefined && whole !== undefined) {',
    changes: [
      ['call.shell === undefined && whole !== undefined', 'false'],
      ['whole !== undefined', 'true'],
      ['whole !== undefined', 'whole === undefined'],
      [
        '{\n    const few = index()?.mayMatch(call.subjects.args());\n    return partAnswers(policy, matchedBy(few ?? all, whole, call), call);\n  }',
        '{}',
      ],
    ],
    why: 'The quick way for a call of one part; the way below gives the same answer. There is always a part.',
  },
  {
    file: 'policy/layer-answer',
    code: 'if (answers.length === 1) return answers;',
    changes: [['answers.length === 1', 'false']],
    why: 'Quicker; of one answer the rest gives that answer.',
  },
  {
    file: 'policy/layer-answer',
    code: 'const asking = found.filter(({ action }) => isAsked(action));',
    changes: [['[]', '["Stryker was here"]']],
    why: 'A text has no action, so it is never among the strictest answers.',
  },
  {
    file: 'policy/layer-answer',
    code: "const { action } = applyMode(mode, 'ask', 'ask', call.mode);",
    changes: [["'ask'", '""']],
    why: 'No mode makes a deny of an ask because of what it was before; only a deny is looked for.',
  },
  {
    file: 'policy/modes',
    code: 'acceptEdits: { ...standard, none: { writeAllow: true } },',
    changes: [['true', 'false']],
    why: 'The key says it; its value has one type only.',
  },
  {
    file: 'policy/compiled-policy',
    code: 'const rarest = keys.reduce((best, key) => (shared.get(key)! < shared.get(best)! ? key : best));',
    changes: [['shared.get(key)! < shared.get(best)!', 'shared.get(key)! <= shared.get(best)!']],
    why: 'Of two that are as rare either will do.',
  },
  {
    file: 'match/matching',
    code: 'meter: RulingMeter = { work: 0 },',
    changes: [['{ work: 0 }', '{}']],
    why: 'Nobody reads what this one counts.',
  },
  {
    file: 'policy/limits',
    code: 'timeoutMs: timeoutOf(layers, ruling?.ask?.by ?? []),',
    changes: [['[]', '["Stryker was here"]']],
    why: 'A text stands in no layer.',
  },
  {
    file: 'policy/modes',
    code: "case 'allow':",
    changes: [["'allow'", '""']],
    why: 'Without the case, the function returns undefined as well.',
  },
  {
    file: 'policy/ask-terms',
    code: 'for (const { afterMs } of rule.escalate ?? []) ofLayer.add(afterMs);',
    changes: [['[]', '["Stryker was here"]']],
    why: 'A time that is none comes last and delays nothing.',
  },
  {
    file: 'policy/ask-terms',
    code: "return layer === 'ceiling' ? layer : `${parent ?? 'run'}`;",
    changes: [["'run'", '""']],
    why: 'Every text will do that is no number.',
  },
  {
    file: 'policy/ask-terms',
    code: 'const asking = withSpacedSteps(ruling.ask?.by ?? [], leastMs);',
    changes: [['[]', '["Stryker was here"]']],
    why: 'A text has no terms, so it asks by the defaults, as nothing does.',
  },
  {
    file: 'policy/ask-terms',
    code: "const { onTimeout: byPolicy = 'deny' } = policy.approval;",
    changes: [["'deny'", '""']],
    why: 'Whatever is not `allow` denies.',
  },
  {
    file: 'policy/run-limits',
    code: 'export function runLimitsOf({ ceiling, parents = [], run }: PolicyLayers): RunLimits {',
    changes: [['[]', '["Stryker was here"]']],
    why: 'A text has no limits.',
  },
  {
    file: 'policy/advice',
    code: 'const items: unknown[] = Array.isArray(recorded) ? recorded : [];',
    changes: [['[]', '["Stryker was here"]']],
    why: 'A text is no answer.',
  },
  {
    file: 'policy/advice',
    code: 'for (const { advisor } of ask?.by ?? []) {',
    changes: [['[]', '["Stryker was here"]']],
    why: 'A text names no advisor.',
  },
  {
    file: 'policy/advice',
    code: 'if (stricter !== 0) return stricter > 0 ? { ...before, severity } : after;',
    changes: [['stricter > 0', 'stricter >= 0']],
    why: 'It is not 0 there.',
  },
  {
    file: 'policy/advice',
    code: 'if (!isAsked(ruling.action) || advice.length === 0) return ruling;',
    changes: [
      ['!isAsked(ruling.action)', 'false'],
      ['!isAsked(ruling.action) || advice.length === 0', 'false'],
      ['!isAsked(ruling.action) || advice.length === 0', '!isAsked(ruling.action) && advice.length === 0'],
      ['advice.length === 0', 'false'],
    ],
    why: 'It says the law first: what does not ask names no advisor, and no advice counts for it.',
  },
  {
    file: 'policy/advice',
    code: 'const by = ruling.ask?.by ?? [];',
    changes: [['[]', '["Stryker was here"]']],
    why: 'Where nothing asks, no advice counts.',
  },
  {
    file: 'policy/advice',
    code: 'if (advisor === undefined || advisor === false || advisor.mayApprove !== true) return false;',
    changes: [
      ['advisor === false', 'false'],
      ['false', 'true'],
    ],
    why: 'The compiler wants it: `false` may not approve either.',
  },
];
