import { personKeyOfRun } from '../../core/ledger/panel.ts';
import type { Directories, Ledger, RequestRecord } from '../../core/ledger/ledger.ts';
import { compileRules, ruleCase, type Case, type CaseCall, type RunRules } from '../../core/ledger/rule-case.ts';
import type { ApprovalRequest, Caller } from '../../contract.ts';
import type { AttributeNames } from '../../core/base/attribute-names.ts';
import type { JsonObject } from '../../core/base/tool-call.ts';
import type { RulingMeter } from '../../core/match/ruling-meter.ts';
import type { ChannelRoutes, RoutedRequest } from '../../core/people/channel-routes.ts';
import { channelTimeoutMs, channelsFor, requestRoutes } from '../../core/people/channel-routes.ts';
import { openedAtMs } from '../../core/ledger/escalation.ts';
import { reviewersOf } from '../../core/ledger/waiting-for.ts';
import { isAsked } from '../../core/policy/modes.ts';
import type { Policy, PolicyLayers } from '../../core/policy/policy.ts';
import type { ContinueAsNewAfter } from '../../core/policy/run-config.ts';
import { redactionSettings } from '../../core/policy/redaction-settings.ts';
import { namesToShow, type PolicyChange, changeRunSide } from '../../core/policy/run-side.ts';
import type { RedactionSettings } from '../../core/redact/redaction.ts';
import { type RuleLines, rulePlace } from '../../core/policy/rule-place.ts';

/** The settings that apply to the calls of a run, as recorded in the run. */
export interface GateOptions {
  agent: string;
  /** The policies as recorded in the run; never read from a file or the environment here (I12). */
  policies: PolicyLayers;
  /** The line of each rule in the operator's policy file, as recorded in the run. Absent without such a file. */
  ceilingLines?: RuleLines;
  caller?: Caller;
  metadata?: JsonObject;
  /** Workflow ids of the runs above this one, the root first. Default: none. */
  lineage?: string[];
  /** Called with the parents' policies that replaced those in `policies`; the next execution begins with them (I11). */
  onParents?: (parents: Policy[]) => void;
  engine: number;
  /** Returns the JSON Schema of a tool's arguments, for the definition with this hash. Default: unknown. */
  schemaOf?: (tool: string, definition: string) => JsonObject | undefined;
  /** The secret of the journal's salts, as recorded in the run. */
  auditSalt: string;
  continueAsNewAfter: ContinueAsNewAfter;
  /** The names of the inbox's search attributes, as recorded in the run. Default: the default names. */
  attributes?: AttributeNames;
  /** Which channels carry the run's requests, as recorded in the run. Absent: the run has no channels. */
  routes?: ChannelRoutes;
}

type Asked = Pick<RequestRecord, 'terms' | 'delegations' | 'stepsTakenUntilMs'> & {
  request: Pick<ApprovalRequest, 'requestedAt' | 'toolName' | 'agentName' | 'assessment'>;
};

export interface CallToRule extends CaseCall {
  show?: readonly string[];
}

export interface RuledCase extends Case {
  /** `FILE:LINE` of the rule, if it is known. */
  rulePlace?: string;
  /** The arguments that tool and policies show in the index, which is read without a worker. */
  show: string[];
  redact?: RedactionSettings;
}

/** The policies of the run as they are now, compiled: those it began with, and what `setPolicy` changed. */
export class ActivePolicies {
  readonly options: GateOptions;
  readonly policies: PolicyLayers;
  readonly change: PolicyChange | undefined;
  readonly directories: Directories;
  readonly redaction: RedactionSettings | undefined;
  readonly #rules: RunRules;
  readonly #routesOf: ((request: RoutedRequest) => string[]) | undefined;

  constructor(options: GateOptions, change: PolicyChange | undefined) {
    const { ceiling, parents, run: base } = options.policies;
    const run = change === undefined ? base : changeRunSide(base, change);
    this.options = options;
    this.change = change;
    this.#routesOf = options.routes && requestRoutes(options.routes);
    this.policies = { ceiling, parents, run };
    this.#rules = compileRules(this.policies);
    this.directories = this.#rules.directories;
    this.redaction = redactionSettings(this.policies);
  }

  /**
   * Returns the channels of a request; undefined if the run has no channels. They depend on the reviewers after the
   * escalation steps that the ledger has recorded, on delegations, and on the request's tool, agent and severity.
   */
  channelsOf({ terms, delegations, stepsTakenUntilMs, request }: Asked): string[] | undefined {
    const { routes } = this.options;
    if (routes === undefined) return undefined;
    const { requestedAt, toolName, agentName, assessment } = request;
    const waitedMs = Math.max(0, stepsTakenUntilMs - openedAtMs({ request: { requestedAt } }));
    const asked = [...reviewersOf(terms, waitedMs), ...delegations.map(({ to }) => to)];
    const { ceiling, parents = [], run } = this.directories;
    const keyOf = personKeyOfRun({ ceiling });
    const directories = [ceiling, ...parents, run].filter((directory) => directory !== undefined);
    const ofRequest = this.#routesOf?.({ toolName, agentName, severity: assessment.severity });
    return channelsFor(routes, { asked, directories, ofRequest, chosen: this.change?.channels, keyOf });
  }

  /** The longest time for which the channels of a new request leave it open. */
  channelTimeoutMs(asked: Asked): number {
    const { routes } = this.options;
    return (routes && channelTimeoutMs(routes, this.channelsOf(asked) ?? [])) ?? Infinity;
  }

  /** Rules on one call at `atMs`. The work is added to `meter`. */
  rule({ show: declared, ...call }: CallToRule, ledger: Ledger, atMs: number, meter?: RulingMeter): RuledCase {
    const ruled = ruleCase(this.#rules, call, this.options, ledger, atMs, meter);
    const { ruling } = ruled;
    const place = rulePlace(ruling, this.#rules.layers.ceiling, this.options.ceilingLines);
    const show = isAsked(ruling.action) ? namesToShow(this.policies, call.tool, declared) : [];
    return { ...ruled, rulePlace: place, show, redact: this.redaction };
  }
}
