/** The workflow bundle's entry: workflow functions, nothing else. */
export { agentRun } from './agent-run.ts';
