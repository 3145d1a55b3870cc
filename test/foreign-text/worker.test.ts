import { workerInputs } from './inputs/worker-inputs.ts';
import { expectLinearWork } from './measure.ts';

expectLinearWork(workerInputs);
