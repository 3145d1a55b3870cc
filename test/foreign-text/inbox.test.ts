import { inboxInputs } from './inputs/inbox-inputs.ts';
import { expectLinearWork } from './measure.ts';

expectLinearWork(inboxInputs);
