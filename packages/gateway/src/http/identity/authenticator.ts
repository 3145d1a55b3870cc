import type { Principal } from './principal.ts';

/** Finds out who sends a request. Throws a `ProblemError` (`unauthenticated`) for a credential that does not hold. */
export interface Authenticator {
  /** Undefined: the request has no credential. */
  authenticate(request: Request): Promise<Principal | undefined>;
  /** The page on which a browser signs in. Absent if there is no such page. */
  readonly loginUrl?: string;
}
