import { auditInputs } from './inputs/audit-inputs.ts';
import { expectLinearWork } from './measure.ts';

expectLinearWork(auditInputs);
