import { ProblemError } from 'countersign/base';
import type { Principal } from './principal.ts';

/** The sender, on a route that needs one. */
export function requirePrincipal({ principal }: { principal: Principal | undefined }): Principal {
  if (principal === undefined) throw new ProblemError({ code: 'unauthenticated', message: 'This needs a credential.' });
  return principal;
}
