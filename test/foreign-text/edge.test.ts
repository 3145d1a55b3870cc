import { edgeInputs } from './inputs/edge-inputs.ts';
import { expectLinearWork } from './measure.ts';

expectLinearWork(edgeInputs);
