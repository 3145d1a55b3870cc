import { commandLineInputs } from './inputs/command-line-inputs.ts';
import { expectLinearWork } from './measure.ts';

expectLinearWork(commandLineInputs);
