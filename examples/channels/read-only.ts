/**
 * The agent may look, and change nothing: what asks is denied at once, with a reason that the model reads.
 *
 *   countersign worker examples/channels/read-only.ts
 *   countersign run shop --input 'My lamp came broken'
 *
 */
import { autoDeny } from 'countersign/channels';
import { policy, shop } from './shop.ts';

export default {
  agents: [shop],
  policy,
  channels: { lookout: autoDeny({ reason: ({ toolName }) => `This agent only reads, so not ${toolName}.` }) },
};
