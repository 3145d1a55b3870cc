import { cardInputs } from './inputs/card-inputs.ts';
import { expectLinearWork } from './measure.ts';

expectLinearWork(cardInputs);
