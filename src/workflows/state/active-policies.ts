import { assessRecorded } from '../../core/assess/recorded.ts';
import type { CompiledAssessRule } from '../../core/assess/rule.ts';
import { compileAssessRules } from '../../core/assess/rule.ts';
import type { Assessment } from '../../core/assess/assessment.ts';
import { askTermsOf, type AskTerms } from '../../core/policy/ask-terms.ts';
import type { Directories, Ledger } from '../../core/ledger/ledger.ts';
import { iso } from '../../core/ledger/ledger.ts';
import { type Grant, isOfDefinition } from '../../core/policy/grants.ts';
import { limitsOf, type Limits } from '../../core/policy/limits.ts';
import { grantAnswers } from '../../core/ledger/make-grant.ts';
import { directoriesOf } from '../../core/ledger/panel.ts';
import type { Caller } from '../../contract.ts';
import type { AttributeNames } from '../../core/base/attribute-names.ts';
import type { JsonObject } from '../../core/base/tool-call.ts';
import type { Policy, PolicyLayers } from '../../core/policy/policy.ts';
import type { ContinueAsNewAfter } from '../../core/policy/run-config.ts';
import type { CompiledLayers, RuledCall, Ruling } from '../../core/policy/ruling.ts';
import { compileLayers, evaluate } from '../../core/policy/ruling.ts';
import { namesToShow } from '../../core/policy/show.ts';
import { type RuleLines, rulePlace } from '../../core/policy/rule-place.ts';
import type { PolicyChange } from '../../core/policy/run-side.ts';
import { changeRunSide } from '../../core/policy/run-side.ts';

/** The settings that apply to the calls of a run, as recorded in the run. */
export interface GateOptions {
  agent: string;
  /** The policies as recorded in the run; never read from a file or the environment here (I12). */
  policies: PolicyLayers;
  /** The lines of the rules in the operator's policy, as the run recorded them. Absent if it was not read from a file. */
  ceilingLines?: RuleLines;
  caller?: Caller;
  metadata?: JsonObject;
  /** Workflow ids of the runs above this one, the root first. Default: none. */
  lineage?: string[];
  /** Called with the parents' policies that replaced those in `policies`; the next execution begins with them (I11). */
  onParents?: (parents: Policy[]) => void;
  /** The engine that the run recorded at its start. Default: 1, for runs of versions that recorded none. */
  engine?: number;
  /** The JSON Schema of a tool's arguments by the definition with this hash. Default: unknown. */
  schemaOf?: (tool: string, definition: string) => JsonObject | undefined;
  continueAsNewAfter: ContinueAsNewAfter;
  /** The names of the inbox's search attributes, as recorded in the run. Default: the default names. */
  attributes?: AttributeNames;
}

/** A call that the active policies rule on. */
export interface CallToRule extends RuledCall {
  digest: string;
  /** The tool's definition: a grant holds only for the definition that its reviewers saw. */
  definition?: string;
  /** The arguments that the tool shows without a worker. */
  show?: readonly string[];
  /** The result of the assessors, recorded where the call was parsed. */
  assessed?: Assessment;
}

/** The answer of the policies to one call. `terms` are meaningful only if the ruling is `ask`. */
export interface RuledCase {
  ruling: Ruling;
  /** `FILE:LINE` of the rule, if it is known. */
  rulePlace?: string;
  terms: AskTerms;
  assessment: Assessment;
  limits: Limits;
  /** The arguments that tool and policies show without a worker. */
  show: string[];
}

/** The policies of the run as they are now, compiled: those it began with, and what `setPolicy` changed. */
export class ActivePolicies {
  readonly options: GateOptions;
  readonly policies: PolicyLayers;
  readonly directories: Directories;
  readonly #layers: CompiledLayers;
  readonly #assessRules: CompiledAssessRule[];

  constructor(options: GateOptions, change: PolicyChange | undefined) {
    const { ceiling, parents, run: base } = options.policies;
    const run = change === undefined ? base : changeRunSide(base, change);
    this.options = options;
    this.policies = { ceiling, parents, run };
    this.directories = directoriesOf(this.policies);
    this.#layers = compileLayers(this.policies);
    this.#assessRules = compileAssessRules(this.policies);
  }

  /** Rules on one call at `atMs`. A grant answers only if the reviewers who made it could answer this call. */
  rule(call: CallToRule, ledger: Ledger, atMs: number): RuledCase {
    const { digest, assessed, definition, show: declared, ...ruled } = call;
    const { agent, caller, metadata } = this.options;
    const assessment = assessRecorded(ruled, this.#assessRules, assessed === undefined ? [] : [assessed]);
    const { engine, counts } = ledger;
    const context = { engine, agent, caller, metadata, counts, assessment, digest, atMs };
    const bare = evaluate(this.#layers, ruled, context);
    const terms = askTermsOf(this.policies, bare, ruled);
    const asked = {
      terms,
      delegations: [],
      request: { requestedAt: iso(atMs), callerUserId: caller?.userId ?? null },
    };
    const isAnswering = (grant: Grant): boolean =>
      grant.tool === call.tool &&
      grant.approved &&
      isOfDefinition(grant, definition) &&
      grantAnswers(grant, asked, this.directories, atMs);
    const grants = bare.action === 'ask' ? ledger.grants.filter(isAnswering) : [];
    const ruling = grants.length > 0 ? evaluate(this.#layers, ruled, { ...context, grants }) : bare;
    const place = rulePlace(ruling, this.#layers.ceiling, this.options.ceilingLines);
    const show = ruling.action === 'ask' ? namesToShow(this.policies, call.tool, declared) : [];
    return { ruling, rulePlace: place, terms, assessment, limits: limitsOf(this.policies, bare), show };
  }
}
