import { policyInputs } from './inputs/policy-inputs.ts';
import { expectLinearWork } from './measure.ts';

expectLinearWork(policyInputs);
