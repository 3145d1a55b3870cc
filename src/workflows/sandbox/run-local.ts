import { inWorkflowContext } from '@temporalio/workflow';

/**
 * Returns the state that the present run keeps under `name`, and creates it with `make` at the first call. It is a
 * global variable, because each run has its own globals, while all runs of a worker share the modules (`preloaded.ts`).
 */
export function runLocal<State extends object>(name: string, make: () => State): State {
  // Outside a run, the value would become a global of every run.
  if (!inWorkflowContext()) throw new Error(`countersign: '${name}' belongs to a run, and there is none here`);
  const globals = globalThis as unknown as Record<symbol, State | undefined>;
  return (globals[Symbol.for(`countersign.${name}`)] ??= make());
}
