import type { Principal } from './principal.ts';

/** Finds out who sends a request. Throws a `ProblemError` (`unauthenticated`) for a credential that does not hold. */
export interface Authenticator {
  /** Undefined: the request has no credential. */
  authenticate(request: Request): Promise<Principal | undefined>;
  /** Where a browser signs in; absent: with a token, or not at all. */
  readonly loginUrl?: string;
}
