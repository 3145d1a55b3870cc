/**
 * A rehearsal: everything that asks is approved at once. For tests and sandboxes only.
 *
 *   countersign worker examples/channels/rehearsal.ts
 *   countersign run shop --input 'My lamp came broken'
 *
 */
import { autoApprove } from 'countersign/channels';
import { policy, shop } from './shop.ts';

export default {
  agents: [shop],
  policy,
  channels: { rehearsal: autoApprove({ reason: 'This is a rehearsal.' }) },
};
