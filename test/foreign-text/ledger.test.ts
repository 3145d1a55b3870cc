import { ledgerInputs } from './inputs/ledger-inputs.ts';
import { expectLinearWork } from './measure.ts';

expectLinearWork(ledgerInputs);
