/**
 * A rehearsal: everything that asks is approved at once. For tests and sandboxes only.
 *
 *   countersign worker examples/channels/rehearsal.ts
 *   countersign run shop --input 'My lamp came broken'
 *
 * In your own project, import from 'countersign/channels'.
 */
import { autoApprove } from '../../src/channels.ts';
import { policy, shop } from './shop.ts';

export default {
  agents: [shop],
  policy,
  channels: { rehearsal: autoApprove({ reason: 'This is a rehearsal.' }) },
};
