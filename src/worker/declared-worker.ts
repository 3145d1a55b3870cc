import type { Policy } from '../core/policy/policy.ts';
import type { RuleLines } from '../core/policy/rule-place.ts';
import { createRegistry } from '../agents/registry.ts';
import { loadPolicy } from './activity-side.ts';
import type { WorkerOptions } from './worker-options.ts';

/** What a worker's options say before any run: the names of its agents, and its policy with the lines of a file. */
export interface DeclaredWorker {
  agents: string[];
  policy?: Policy;
  ruleLines?: RuleLines;
}

/** Reads the options as the worker does, and throws what it throws. */
export function declaredBy({
  agents = [],
  tools,
  policy,
}: Pick<WorkerOptions, 'agents' | 'tools' | 'policy'>): DeclaredWorker {
  return {
    agents: createRegistry({ agents, tools }).agents.map(({ name }) => name),
    ...(policy !== undefined && loadPolicy(policy, `the worker's policy`, { ceiling: true })),
  };
}
