/** The workflows of the stored histories. */
export { agentRun } from '../../../src/workflow.ts';
export { orders } from './recorded-orders.ts';
