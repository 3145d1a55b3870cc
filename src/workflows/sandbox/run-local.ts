import { inWorkflowContext } from '@temporalio/workflow';

/**
 * The state that one run keeps outside its gate under `name`; `make` creates it. Module variables cannot hold it: all
 * runs of a worker share the modules (`preloaded.ts`), and the sandbox swaps only the globals.
 */
export function runLocal<State extends object>(name: string, make: () => State): State {
  // Outside a run, the value would become a global of every run.
  if (!inWorkflowContext()) throw new Error(`countersign: '${name}' belongs to a run, and there is none here`);
  const globals = globalThis as unknown as Record<symbol, State | undefined>;
  return (globals[Symbol.for(`countersign.${name}`)] ??= make());
}
