/** The HTTP gateway: an API and a web inbox for reviewers. It reaches Temporal through a `CountersignClient`. */
// This file only re-exports. The first import checks the version of Node.
import 'countersign/require-node';
export { startGateway } from './http/start-gateway.ts';
export type { Gateway, GatewayOptions } from './http/start-gateway.ts';
export type { KnownWorker } from './http/gateway-context.ts';
export { readIdentityFile } from './http/identity/identity-file.ts';
export type { GatewayIdentity, OpenIdSettings } from './http/identity/identity.ts';
export type { TokenEntry } from './http/identity/identity.ts';
export type { Authenticator } from './http/identity/principal.ts';
export type { GatewayLimits } from './http/server/limits.ts';
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
  SentencePart,
} from 'countersign/card';
export type { Principal, Role } from './http/identity/principal.ts';
export type * from './http/inbox/api.ts';
export type {
  DecidedRequest,
  DecisionStatistics,
  PlacedRule,
  RecordedPolicy,
  AgentUsage,
  ReviewerStatistics,
  RuleStatistics,
  Share,
} from 'countersign/audit';
