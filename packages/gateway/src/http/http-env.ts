import type { Decision } from 'countersign/client';
import type { Principal } from './identity/principal.ts';

/** What middleware adds to a request. */
export interface HttpEnv {
  Variables: {
    /** Undefined: nobody is known. A route that needs somebody is reached only with one. */
    principal: Principal | undefined;
    /** Where a browser signs in; undefined: nowhere. */
    loginUrl: string | undefined;
    /** The answer of a channel's receiver, if the channel found it to be the receiver's own. */
    provenAnswer: Decision | undefined;
  };
}
