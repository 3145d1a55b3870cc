/** The HTTP gateway: an API and a web inbox for reviewers, over a client. */
// Re-exports only, after the check of Node's version.
import './connection/require-node.ts';
export { startGateway } from './adapters/http/start-gateway.ts';
export type { Gateway, GatewayOptions } from './adapters/http/start-gateway.ts';
export { readIdentityFile } from './adapters/http/identity/identity-file.ts';
export type { Identity, OpenIdSettings } from './adapters/http/identity/identity.ts';
export type { TokenEntry } from './adapters/http/identity/token-list.ts';
export type { Authenticator } from './adapters/http/authenticator.ts';
export type { GatewayLimits } from './adapters/http/limits.ts';
export type {
  AnswerName,
  Card,
  CardAnswer,
  CardChange,
  CardField,
  CardRow,
  CardText,
  DiffLine,
  FieldFormat,
} from './core/card/card.ts';
export type { Principal, Role } from './adapters/http/principal.ts';
export type * from './adapters/http/api.ts';
export type * from './channels/chat-app.ts';
export type * from './channels/push-app.ts';
export type { DecisionStatistics } from './core/audit/decision-statistics.ts';
export type { PlacedRule, RecordedPolicy } from './core/audit/policy-in-force.ts';
export type { ReviewerStatistics, RuleStatistics } from './core/audit/statistics-rows.ts';
export type { Share } from './core/audit/answers-of.ts';
