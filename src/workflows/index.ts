/** The entry of the workflow bundle: exports workflow functions only. */
export { agentRun } from './agent/agent-run.ts';
export { approvalChannels } from './channels/approval-channels.ts';
export { standingDelegation } from './channels/standing-delegation.ts';
