import { isObject, nfc, type JsonObject, type Risk, risks } from 'countersign/base';
import type { Mode, Policy, CompiledLayers, RuledCall, RulingContext } from 'countersign/policy';
import { compileAssessRules, assess, compileFor, notSplit, splitShell } from 'countersign/policy';
import type { Owner } from './policy-file.ts';

/** A call, with the risk and the subject that `defineTool` would give its tool. */
export interface DescribedCall {
  tool: string;
  args: JsonObject;
  risk: Risk;
  subject?: Subject;
  /** The agent's name. Default: an agent that the policy does not name. */
  agent?: string;
  /** The sums of earlier calls of the run, by tool and argument. Default: all are 0. */
  sums?: Sums;
  /** The run's mode, which overrides that of the policy. */
  mode?: Mode;
}

/** The results of `sum(TOOL, ARGUMENT)` in the conditions of a policy, by tool and argument. */
export type Sums = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** The argument that a pattern `TOOL:TEXT` of a rule matches. */
export interface Subject {
  argument: string;
  /** True if the argument is a shell command. */
  shell: boolean;
  /** For a shell command: the other arguments that the tool declares harmless. */
  beside?: string[];
}

export type Trial = [CompiledLayers, RuledCall, RulingContext];

/** Compiles a policy once for each mode. The result gives the parameters of `evaluate`, without custom assessors. */
export function trialsOf(policy: Policy, owner: Owner): (described: DescribedCall) => Trial {
  const isCeiling = owner === 'ceiling';
  const assessRules = compileAssessRules(isCeiling ? { ceiling: policy } : { run: policy });
  const layersByMode = new Map<Mode | undefined, CompiledLayers>();
  const layersOf = (mode: Mode | undefined): CompiledLayers => {
    const cached = layersByMode.get(mode);
    if (cached !== undefined) return cached;
    const policyInMode = mode === undefined ? policy : { ...policy, mode };
    const layers = { [isCeiling ? 'ceiling' : 'run']: compileFor(policyInMode, owner) };
    layersByMode.set(mode, layers);
    return layers;
  };
  return ({ tool, args, risk, subject, agent = '', sums, mode }) => {
    const call: RuledCall = { tool, args, risk };
    if (subject !== undefined) call.subject = subject.argument;
    if (subject?.shell === true) call.shell = splitOf(args, subject.argument);
    call.beside = subject?.beside;
    const assessment = assess(call, assessRules);
    const sumOf = (tool: string, argument: string): number => sums?.get(tool)?.get(argument) ?? 0;
    return [layersOf(mode), call, { assessment, agent: nfc(agent), sumOf }];
  };
}

/** Reads a subject, written as in the options of `defineTool`; undefined if invalid, as `beside` without `shell` is. */
export function parseSubject(value: unknown): Subject | undefined {
  if (typeof value === 'string') return { argument: value, shell: false };
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'argument')) return undefined;
  const { argument, shell = false, beside, ...others } = value as Record<string, unknown>;
  if (typeof argument !== 'string' || typeof shell !== 'boolean' || Object.keys(others).length > 0) return undefined;
  if (beside === undefined) return { argument, shell };
  if (!shell || !Array.isArray(beside) || !beside.every((name) => typeof name === 'string')) return undefined;
  return { argument, shell, beside };
}

/** Reads sums such as `{"refund":{"amount":700}}`; undefined if they are invalid. */
export function parseSums(value: unknown): Sums | undefined {
  if (!isObject(value)) return undefined;
  const tools = Object.entries(value).map(
    ([tool, sums]) => [tool, isObject(sums) ? Object.entries(sums) : []] as const,
  );
  const isSums = tools.every(([, sums]) => sums.length > 0 && sums.every(([, sum]) => typeof sum === 'number'));
  return isSums ? new Map(tools.map(([tool, sums]) => [tool, new Map(sums as [string, number][])])) : undefined;
}

export function isRisk(value: unknown): value is Risk {
  return value === 'unknown' || risks.some((risk) => risk === value);
}

export const sumsWanted = `what earlier calls add up to, by tool and argument: {"refund":{"amount":700}}`;

export const subjectWanted = `an argument's name, or {"argument":NAME,"shell":true,"beside":[NAME,…]}`;

function splitOf(args: JsonObject, argument: string) {
  const command = Object.hasOwn(args, argument) ? args[argument] : undefined;
  return typeof command === 'string' ? splitShell(command) : notSplit;
}
