import type { Tool } from '../agents/definitions.ts';
import type { Registry } from '../agents/registry.ts';

/** The tools of a turn's calls. */
export interface FoundTools {
  toolNamed: (name: string) => Tool | undefined;
  /** One sentence for the model. Undefined: there is no such tool. */
  whyNot: (name: string) => string | undefined;
}

/** Finds these tools and no others. What a toolset listed earlier will do here: the second gate asks again. */
export async function findTools(registry: Registry, names: readonly string[]): Promise<FoundTools> {
  const { toolsets } = registry;
  const wanted = new Set(names);
  const ofToolsets = [...wanted].filter((name) => toolsets.owns(name));
  const listed = new Map(
    await Promise.all(ofToolsets.map(async (name) => [name, await toolsets.find(name, { fresh: false })] as const)),
  );
  return {
    toolNamed: (name) => {
      const found = listed.get(name);
      if (found !== undefined) return 'tool' in found ? found.tool : undefined;
      return wanted.has(name) ? registry.tool(name) : undefined;
    },
    whyNot: (name) => {
      const found = listed.get(name);
      return found !== undefined && 'problem' in found ? found.problem : undefined;
    },
  };
}
