import { inWorkflowContext } from '@temporalio/workflow';

/**
 * What one run keeps beside its gate, by name; `make` makes it on first use. Never a variable of a module: all runs of
 * a worker share the modules (`preloaded.ts`). A run's globals are its own: the sandbox changes them with the run.
 */
export function runLocal<State extends object>(name: string, make: () => State): State {
  // Before there is a run, it would be a global of every run.
  if (!inWorkflowContext()) throw new Error(`countersign: '${name}' belongs to a run, and there is none here`);
  const globals = globalThis as unknown as Record<symbol, State | undefined>;
  return (globals[Symbol.for(`countersign.${name}`)] ??= make());
}
