export { agentRun } from './agent/agent-run.ts';
export { approvalChannels } from './channels/approval-channels.ts';
export { standingDelegation } from './channels/standing-delegation.ts';
