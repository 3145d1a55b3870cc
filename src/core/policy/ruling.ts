/**
 * A policy's answer to one call. Pure and total: no policy, call or text makes it throw. Each layer that has a policy
 * answers (layer-answer.ts), the strictest answer decides, and finally a grant may turn an ask into an allow.
 */
import { defaultAssessment, type Assessment } from '../assess/assessment.ts';
import { continueTool, type JsonObject, type Risk, type Severity } from '../base/tool-call.ts';
import type { CompiledLayers } from './compiled-policy.ts';
import { celArguments } from '../match/cel.ts';
import { maxConditionWork, type ConditionVariables } from '../match/condition.ts';
import { defaultAlways, grantFor, narrowest, type Grant } from './grants.ts';
import { layerAnswers, riskDefault, strictest, type LayerAnswer, type LayerCall } from './layer-answer.ts';
import { callSubjects, maxRulingWork } from '../match/matching.ts';
import type { RulingMeter } from '../match/ruling-meter.ts';
import type { SumOf } from '../match/argument-reads.ts';
import { grantedCommand, undeclaredArguments } from './whole-call.ts';
import { isAsked, type Mode, type Action } from './modes.ts';
import type { Always, AskSettings } from './policy.ts';
import type { ShellSplit } from '../shell/parts.ts';

export { compileLayers, compilePolicy, type CompiledLayers, type CompiledPolicy } from './compiled-policy.ts';
export type { SumOf } from '../match/argument-reads.ts';
export type { RulingMeter } from '../match/ruling-meter.ts';

/** The version of the engine. A run keeps its version: if any answer changes, a new version is added beside the old. */
export const engine = 1;

/** An answer: `{ action: 'ask', rule: 'mail', layer: 'run', reason: '…', severity: 'medium', engine: 1 }`. */
export interface Ruling {
  action: Action;
  /** Id of the rule or grant, or name of the advisor, that decided; null if a risk default or a mode decided. */
  rule: string | null;
  /** The layer of that rule; `default` if a risk default or a mode decided. */
  layer: 'ceiling' | 'parent' | 'agent' | 'run' | 'grant' | 'advisor' | 'default';
  /** The rule's reason, why it could not be evaluated, or which mode decided. The model gets it with a denial. */
  reason?: string;
  /** The mode, if it decided the action. */
  mode?: Mode;
  /** How severe the call is, by its assessment. */
  severity: Severity;
  engine: number;
  /** For `ask`: the widest grant admitted, and everything that asks. Absent if nothing that asks sets terms. */
  ask?: { always: Always; by: AskingRule[] };
}

/** What made the ruling an ask: a rule with its terms, or a risk default or a mode without any. */
export interface AskingRule extends AskSettings {
  /** Null for a risk default or a mode. */
  rule: string | null;
  layer: 'ceiling' | 'parent' | 'agent' | 'run';
  /** For layer `parent`: the index in `parents`, from 0. */
  parent?: number;
}

/** A call as the policy sees it. */
export interface RuledCall {
  tool: string;
  args: JsonObject;
  risk: Risk;
  /** The name of the argument that `name:args` patterns match. Default: they match the JSON of all arguments. */
  subject?: string;
  /** Present if the subject is a shell command, even if it could not be split. */
  shell?: ShellSplit;
  /** For a shell command: the other arguments that the tool declares harmless. Default: none. */
  beside?: readonly string[];
}

/** What a ruling reads besides the call. A missing value matches nothing and fails closed. */
export interface RulingContext {
  /** The engine version that the run recorded. Default: the current one. */
  engine?: number;
  /** The calling agent; without it, rules in agents' blocks cannot be evaluated. */
  agent?: string;
  caller?: { userId: string; groups?: string[] };
  metadata?: JsonObject;
  /** Counts of this run so far. Default: zeros. */
  counts?: Partial<RunCounts>;
  /** Returns a sum for conditions; undefined if a call has no number in the argument. Default: always 0. */
  sumOf?: SumOf;
  /** Default: derived from the tool's risk. */
  assessment?: Assessment;
  grants?: readonly Grant[];
  /** The call's digest, for grants of kind `call`. */
  digest?: string;
  /** Workflow time in milliseconds, for grants that expire. */
  atMs?: number;
}

/** Counts of one run, before the current call. */
export interface RunCounts {
  /** Calls that were ruled on. */
  calls: number;
  /** Calls that were asked about. */
  asks: number;
  /** Denials by reviewers. */
  denials: number;
  /** Irreversible calls that ran or may still run. */
  irreversible: number;
}

/** The most work for all rulings in one step of a run: about half a second. Calls beyond that are refused. */
export const maxWorkOfStep = 2 * maxRulingWork;
/** The price of one step of a condition, about a microsecond, in units of `maxMatchWork`. */
const workOfConditionStep = 125;

/**
 * Evaluates one call; without any policy, by the standard risk defaults. Among equally strict answers, it names that
 * of a rule before that of a risk default, then ceiling before parents before run. Throws only for an engine that
 * this version lacks. `meter` counts the work.
 */
export function evaluate(
  layers: CompiledLayers,
  call: RuledCall,
  context: RulingContext = {},
  meter: RulingMeter = { work: 0 },
): Ruling {
  const engineVersion = context.engine ?? engine;
  if (engineVersion !== engine) {
    throw new Error(
      `ruling engine ${engineVersion} is not in this version: start a worker of the version that began this run`,
    );
  }
  const ready = readyCall(call, context, meter);
  const { ceiling, parents = [], run } = layers;
  const ofCeiling = ceiling === undefined ? [] : layerAnswers(ceiling, ready);
  const ofParents = parents.map((parent) => layerAnswers(parent, ready));
  const ofRun = run === undefined ? [] : layerAnswers(run, ready);
  const answers = [...ofCeiling, ...ofParents.flat(), ...ofRun];
  meter.work += (maxConditionWork - ready.facts.budget.left) * workOfConditionStep;
  if (answers.length === 0) answers.push({ action: riskDefault({}, call), rule: null, layer: 'default' });
  const decisive = strictest(answers);
  const { action, rule, layer, reason, mode } = decisive[0]!;
  const common = { severity: ready.mode.severity, engine: engineVersion };
  if (isAsked(action)) {
    // An approval to go on beyond a limit must leave no grant.
    const isToContinue = call.tool === continueTool;
    const always = isToContinue ? false : narrowest(decisive.map((answer) => admittedBy(answer, call)));
    const { digest, atMs, grants = [] } = context;
    const grant = grantFor(grants, { digest, atMs, ready, command: grantedCommand(call) }, always);
    if (grant !== undefined) return { action: 'allow', rule: grant.grantId, layer: 'grant', ...common };
    if (isToContinue || decisive.some(({ ask }) => ask !== undefined)) {
      const by = decisive.map((answer) => {
        // The directory of the rule's own layer will say who is in the groups that the rule names.
        const parent = ofParents.findIndex((answers) => answers.includes(answer));
        if (parent >= 0) return { ...askingRule(answer, 'parent'), parent };
        return askingRule(answer, ofCeiling.includes(answer) ? 'ceiling' : 'run');
      });
      Object.assign(common, { ask: { always, by } });
    }
  }
  // A ruling has no keys without a value.
  return { action, rule, layer, ...(reason !== undefined && { reason }), ...(mode && { mode }), ...common };
}

/** Prepares a call for all layers. Their conditions share one budget. */
export function readyCall(call: RuledCall, context: RulingContext, meter: RulingMeter = { work: 0 }): LayerCall {
  const { agent, caller, metadata, counts, sumOf = () => 0, assessment = defaultAssessment(call.risk) } = context;
  const { severity, requiresApproval } = assessment;
  let variables: ConditionVariables | undefined;
  return {
    tool: call.tool,
    subject: call.subject,
    shell: call.shell,
    subjects: callSubjects(call, meter),
    meter,
    mode: { risk: call.risk, severity, requiresApproval },
    undeclared: undeclaredArguments(call),
    facts: {
      agent,
      sumOf,
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

/** The widest grant that an answer admits, if it asks. A risk default or a mode admits any grant. */
function admittedBy({ rule, ask }: LayerAnswer, call: RuledCall): Always {
  return ask?.always ?? (rule === null ? 'tool' : defaultAlways(call));
}

function askingRule({ rule, layer, ask }: LayerAnswer, side: 'ceiling' | 'parent' | 'run'): AskingRule {
  return { rule, layer: layer === 'default' ? side : layer, ...ask };
}
