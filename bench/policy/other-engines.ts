/**
 * Cedar and CASL. They are installed only in this folder, so that nobody else needs them; therefore their types are
 * written out here.
 * Cedar is a policy language for the same purpose. CASL is the most comparable library of roles and permissions: it is
 * maintained, runs in the process, lets the last matching rule decide, and has conditions on fields. casbin, the other
 * widely used one, evaluates an expression for each line of its policy on each call.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Action } from '../../src/core/policy/modes.ts';
import type { Engine } from './engines.ts';
import { textOf } from './works.ts';

interface Cedar {
  preparsePolicySet: (id: string, policies: { staticPolicies: Record<string, string> }) => { type: string };
  statefulIsAuthorized: (request: object) => {
    type: string;
    response: { diagnostics: { reason: string[]; errors: unknown[] } };
  };
}

interface Casl {
  createMongoAbility: (rules: object[]) => {
    relevantRuleFor(action: string, subject: unknown): { reason?: string } | null;
  };
  subject: (type: string, fields: object) => unknown;
}

/** Both engines, or a sentence that says how to install them. */
export async function otherEngines(): Promise<Engine[] | string> {
  try {
    return await load();
  } catch {
    const folder = fileURLToPath(new URL('.', import.meta.url));
    try {
      execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
      return await load();
    } catch {
      return 'Cedar and CASL are not here and could not be installed: run `npm install` in bench/policy.';
    }
  }
}

async function load(): Promise<Engine[]> {
  // The names are in variables so that neither the compiler nor knip looks for packages that are not installed.
  const [cedarName, caslName] = ['@cedar-policy/cedar-wasm/nodejs', '@casl/ability'];
  return [casl((await import(caslName)) as Casl), cedar((await import(cedarName)) as Cedar)];
}

/** The rule's action is its reason. A tool without a star is the subject's type, which CASL looks up. */
const casl = ({ createMongoAbility, subject }: Casl): Engine => ({
  name: 'CASL',
  load: (rules) => {
    const ability = createMongoAbility(
      rules.map(({ name, text, over, action }) => {
        const conditions = {
          ...(name.includes('*') && name !== '*' && { tool: { $regex: expressionOf(name) } }),
          ...(text !== undefined && { text: { $regex: expressionOf(text) } }),
          ...(over && { [`args.${over.field}`]: { $gt: over.amount } }),
        };
        return {
          action: 'call',
          subject: name.includes('*') ? 'all' : name,
          reason: action,
          ...(Object.keys(conditions).length > 0 && { conditions }),
        };
      }),
    );
    return (call) => {
      const { tool, args } = call;
      const rule = ability.relevantRuleFor('call', subject(tool, { tool, args, text: textOf(call) }));
      return (rule?.reason ?? 'ask') as Action;
    };
  },
});

/**
 * Cedar's policies have no order. So each rule is a policy that permits; Cedar names all matching ones, and the last of
 * them decides.
 */
const cedar = ({ preparsePolicySet, statefulIsAuthorized }: Cedar): Engine => ({
  name: 'Cedar (WebAssembly)',
  load: (rules) => {
    const staticPolicies = Object.fromEntries(
      rules.map(({ name, text, over }, index) => {
        const resource = name.includes('*') ? 'resource' : `resource == Tool::${JSON.stringify(name)}`;
        const conditions = [
          ...(name.includes('*') && name !== '*' ? [`context.tool like ${JSON.stringify(name)}`] : []),
          ...(text === undefined ? [] : [`context.text like ${JSON.stringify(text)}`]),
          ...(over ? [`context.args has ${over.field} && context.args.${over.field} > ${over.amount}`] : []),
        ];
        const when = conditions.length === 0 ? '' : ` when { ${conditions.join(' && ')} }`;
        return [String(index), `permit(principal, action, ${resource})${when};`];
      }),
    );
    if (preparsePolicySet('rules', { staticPolicies }).type !== 'success') throw new Error('Cedar refuses the rules');
    return (call) => {
      const { tool, args } = call;
      const answer = statefulIsAuthorized({
        principal: { type: 'Agent', id: 'bench' },
        action: { type: 'Action', id: 'call' },
        resource: { type: 'Tool', id: tool },
        context: { tool, args, text: textOf(call) },
        entities: [],
        preparsedPolicySetId: 'rules',
      });
      if (answer.type !== 'success' || answer.response.diagnostics.errors.length > 0) throw new Error('Cedar fails');
      const { reason } = answer.response.diagnostics;
      return reason.length === 0 ? 'ask' : rules[Math.max(...reason.map(Number))]!.action;
    };
  },
});

function expressionOf(glob: string): RegExp {
  const escaped = glob.split('*').map((literal) => literal.replaceAll(/[\\^$.+?()[\]{}|/]/g, String.raw`\$&`));
  return new RegExp(`^${escaped.join('.*')}$`, 's');
}
