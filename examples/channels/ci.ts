/**
 * A pipeline, which nobody watches: what is of medium severity or more asks, and every ask is denied at once.
 *
 *   countersign worker examples/channels/ci.ts
 *   countersign run shop --input 'My lamp came broken'
 *
 */
import { autoDeny } from 'countersign/channels';
import { shop } from './shop.ts';

export default {
  agents: [shop],
  policy: { mode: 'confirm_medium_and_up' },
  channels: { pipeline: autoDeny({ reason: 'Nothing risky in the pipeline.' }) },
};
