/** `countersign/client`: start runs, list and decide approvals, look at runs. */
export { createClient } from './client/client.ts';
export type { ClientOptions, CountersignClient, RunHandle } from './client/client.ts';
export type { RequestOptions, SendOptions } from './client/control-run.ts';
export type { HistoryChain, HistoryLink } from './client/history-chain.ts';
export type { ApprovalFilter, ApprovalList } from './client/list-approvals.ts';
export { createReviewerKey, publicKeyOf } from './client/reviewer-key.ts';
export type { ReviewerKey } from './client/reviewer-key.ts';
export type { RunView } from './client/show-run.ts';
export { signDecision, signMessage } from './client/sign-message.ts';
export type { Signed, Signer, SigningOptions } from './client/sign-message.ts';
export type { StartOptions } from './client/start-run.ts';
export { ProblemError, isProblemError } from './core/problem.ts';
export type { Problem, ProblemCode } from './core/problem.ts';
export type { ApprovalSummary } from './core/approval-index.ts';
export type * from './contract.ts';
