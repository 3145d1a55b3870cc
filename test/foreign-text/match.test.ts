import { matchInputs } from './inputs/match-inputs.ts';
import { expectLinearWork } from './measure.ts';

expectLinearWork(matchInputs);
