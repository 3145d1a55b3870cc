/**
 * The ruling: a policy's answer to one call. Pure and total: no policy, call or text makes it throw.
 *
 * Each layer that has a policy answers (layer-answer.ts), the stricter answer decides, and last a grant may turn an ask
 * into an allow. Nothing else happens here.
 */
import { defaultAssessment, type Assessment } from '../assess/assessment.ts';
import type { CompiledLayers } from './compiled-policy.ts';
import { celArguments, maxConditionWork, type ConditionVariables } from '../match/condition.ts';
import { defaultAlways, grantFor, narrowest, type Grant } from './grants.ts';
import { layerAnswers, riskDefault, strictest, type Answer, type LayerCall } from './layer-answer.ts';
import { callSubjects } from '../match/matching.ts';
import type { Mode } from './modes.ts';
import type { Always, AskSettings } from './policy.ts';
import type { Action } from './action.ts';
import type { ShellSplit } from '../shell/parts.ts';
import type { JsonObject, Risk, Severity } from '../base/tool-call.ts';

export { compileLayers, compilePolicy, type CompiledLayers, type CompiledPolicy } from './compiled-policy.ts';

/** The number of the engine below; a run keeps the one it started with (I12). */
export const engine = 1;

/** Shape of an answer: `{ action: 'ask', rule: 'mail', layer: 'run', reason: '…', severity: 'medium', engine: 1 }`. */
export interface Ruling {
  action: Action;
  /** Id of the rule or the grant that decided; null where a risk default or a mode did. */
  rule: string | null;
  /** Where that rule stands; `default` where a risk default or a mode decided. */
  layer: 'ceiling' | 'parent' | 'agent' | 'run' | 'grant' | 'default';
  /** The rule's reason, why it could not be evaluated, or which mode decided: what the model is told of a denial. */
  reason?: string;
  /** The mode that made the action out of another. */
  mode?: Mode;
  severity: Severity;
  engine: number;
  /** For `ask`: everything that asks, and what it says. Absent where nothing that asks says how; see ask-terms.ts. */
  ask?: { always: Always; by: AskingRule[] };
}

/** A rule that made the ruling an ask, and its terms; or a risk default or a mode that did. */
export interface AskingRule extends AskSettings {
  /** Null: a risk default or a mode. */
  rule: string | null;
  layer: 'ceiling' | 'parent' | 'agent' | 'run';
  /** For layer `parent`: which of `parents`, from 0. */
  parent?: number;
}

/** A call as the policy sees it. */
export interface RuledCall {
  tool: string;
  args: JsonObject;
  risk: Risk;
  /** The argument that `name:args` patterns match; without it, the canonical JSON of all. */
  subject?: string;
  /** Present where the subject is a shell command, even if it could not be split. */
  shell?: ShellSplit;
}

/** What a ruling looks at besides the call. All of it is optional: what is missing matches nothing and fails closed. */
export interface RulingContext {
  /** The number recorded in the run. Default: this version's. */
  engine?: number;
  /** Whose call it is; without it, rules in agents' blocks ask. */
  agent?: string;
  caller?: { userId: string; groups?: string[] };
  metadata?: JsonObject;
  /** Of this run so far. Default: zeros. */
  counts?: Partial<RunCounts>;
  /** Default: what the tool's risk says. */
  assessment?: Assessment;
  grants?: readonly Grant[];
  /** The call's digest, for grants of kind `call`. */
  digest?: string;
  /** Milliseconds of workflow time, for grants that expire. */
  atMs?: number;
}

/** Of one run, before the call at hand. */
export interface RunCounts {
  calls: number;
  asks: number;
  denials: number;
  irreversible: number;
}

/**
 * Rules on one call. A layer without a policy does not answer; without any, the standard risk defaults do.
 * Where layers are equally strict, a rule is reported before a risk default, then the ceiling before parents before the
 * run.
 * Throws for an engine that this version no longer has, and for nothing else.
 *
 * @example
 * const { policy } = parsePolicy(`
 * rules:
 *   - { pattern: wire_transfer, action: ask, reason: Money needs a person }
 *   - { pattern: wire_transfer, when: 'args.amount <= 100', action: allow }`);
 * const layers = { run: compilePolicy(policy, 'run') };
 * evaluate(layers, { tool: 'wire_transfer', args: { amount: 5 }, risk: 'write' }).action; // => 'allow'
 * evaluate(layers, { tool: 'wire_transfer', args: { amount: 500 }, risk: 'write' }); // => { action: 'ask', rule: 'run#1', layer: 'run', reason: 'Money needs a person', severity: 'medium', engine: 1 }
 * evaluate({}, { tool: 'wipe', args: {}, risk: 'destructive' }).action; // => 'deny'
 */
export function evaluate(layers: CompiledLayers, call: RuledCall, context: RulingContext = {}): Ruling {
  const number = context.engine ?? engine;
  if (number !== 1) {
    throw new Error(
      `ruling engine ${number} is not in this version: start a worker of the version that began this run`,
    );
  }
  return evaluateByEngine1(layers, call, context);
}

function evaluateByEngine1(layers: CompiledLayers, call: RuledCall, context: RulingContext): Ruling {
  const ready = readyCall(call, context);
  const { ceiling, parents = [], run } = layers;
  const ofCeiling = ceiling === undefined ? [] : layerAnswers(ceiling, ready);
  const ofParents = parents.map((parent) => layerAnswers(parent, ready));
  const ofRun = run === undefined ? [] : layerAnswers(run, ready);
  const answers = [...ofCeiling, ...ofParents.flat(), ...ofRun];
  if (answers.length === 0) answers.push({ action: riskDefault({}, call.risk), rule: null, layer: 'default' });
  const decisive = strictest(answers);
  const { action, rule, layer, reason, mode } = decisive[0]!;
  const common = { severity: ready.mode.severity, engine: 1 };
  if (action === 'ask') {
    const always = narrowest(decisive.map((answer) => admittedBy(answer, call)));
    const { digest, atMs, grants = [] } = context;
    const grant = grantFor(grants, { tool: call.tool, digest, atMs, subjects: ready.subjects }, always);
    if (grant !== undefined) return { action: 'allow', rule: grant.grantId, layer: 'grant', ...common };
    if (decisive.some(saysHow)) {
      const by = decisive.map((answer) => {
        const parent = ofParents.findIndex((answers) => answers.includes(answer));
        if (parent >= 0) return { ...askingRule(answer, 'parent'), parent };
        return askingRule(answer, ofCeiling.includes(answer) ? 'ceiling' : 'run');
      });
      Object.assign(common, { ask: { always, by } });
    }
  }
  return { action, rule, layer, ...(reason !== undefined && { reason }), ...(mode && { mode }), ...common };
}

/** Makes a call ready for all layers. Their conditions share one budget. */
export function readyCall(call: RuledCall, context: RulingContext): LayerCall {
  const { agent, caller, metadata, counts, assessment = defaultAssessment(call.risk) } = context;
  const { severity, requiresApproval } = assessment;
  let variables: ConditionVariables | undefined;
  return {
    tool: call.tool,
    subject: call.subject,
    shell: call.shell,
    subjects: callSubjects(call),
    mode: { risk: call.risk, severity, requiresApproval },
    facts: {
      agent,
      budget: { left: maxConditionWork },
      ...(call.shell !== undefined && { held: new Map() }),
      variables: () =>
        (variables ??= {
          args: celArguments(call.args),
          tool: call.tool,
          risk: call.risk,
          severity,
          agent: agent ?? null,
          caller: caller ?? null,
          metadata: metadata ?? {},
          counts: { calls: 0, asks: 0, denials: 0, irreversible: 0, ...counts },
        }),
    },
  };
}

/** An ask by a risk default or a mode admits any grant. */
function admittedBy({ rule, always }: Answer, call: RuledCall): Always {
  return always ?? (rule === null ? 'tool' : defaultAlways(call));
}

/** A rule that says nothing itself may admit no grant all the same: one that could not be evaluated. */
function saysHow({ rule, always, ask }: Answer): boolean {
  return ask !== undefined || (rule !== null && always !== undefined);
}

function askingRule({ rule, layer, ask }: Answer, side: 'ceiling' | 'parent' | 'run'): AskingRule {
  return { rule, layer: layer === 'default' ? side : layer, ...ask };
}
