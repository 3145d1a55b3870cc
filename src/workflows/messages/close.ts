/** Signal `close`: cancels everything open, and tells the workflow to end. */
import { messageNames } from '../../contract.ts';
import { readClose, type CloseMessage } from '../../core/messages/control.ts';
import type { GateState } from '../state/gate-state.ts';
import type { MessageKind } from './message-kind.ts';
import { acceptable, refused } from './message-kind.ts';

export function closeMessages(state: GateState, onClose: () => void): MessageKind<CloseMessage> {
  return {
    name: messageNames.close,
    parse: readClose,
    concerns: () => [],
    preview: () => {
      if (state.closing === undefined) return acceptable;
      return refused('', { code: 'run_closed', message: 'the run was closed already' });
    },
    apply: ({ by, reason }) => {
      state.closing = reason ?? `the run was closed${by === undefined ? '' : ` by ${by}`}`;
      state.cancelOpen(state.closing);
      onClose();
      return { requestId: '', accepted: true, message: state.closing };
    },
  };
}
