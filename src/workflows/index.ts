/** The workflow bundle's entry: workflow functions, nothing else. */
export { agentRun } from './agent/agent-run.ts';
