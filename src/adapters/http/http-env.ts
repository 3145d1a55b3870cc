import type { Principal } from './principal.ts';

/** What middleware adds to a request. */
export interface HttpEnv {
  Variables: {
    /** Undefined: nobody is known. A route that needs somebody is reached only with one. */
    principal: Principal | undefined;
    /** Where a browser signs in; undefined: nowhere. */
    loginUrl: string | undefined;
  };
}
