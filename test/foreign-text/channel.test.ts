import { channelInputs } from './inputs/channel-inputs.ts';
import { expectLinearWork } from './measure.ts';

expectLinearWork(channelInputs);
