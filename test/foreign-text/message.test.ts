import { messageInputs } from './inputs/message-inputs.ts';
import { expectLinearWork } from './measure.ts';

expectLinearWork(messageInputs);
