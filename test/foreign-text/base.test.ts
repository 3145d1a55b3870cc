import { baseInputs } from './inputs/base-inputs.ts';
import { expectLinearWork } from './measure.ts';

expectLinearWork(baseInputs);
