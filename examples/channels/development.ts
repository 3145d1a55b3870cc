/**
 * At a developer's desk: calls of medium severity are approved at once, and the terminal is asked about worse ones.
 *
 *   countersign worker examples/channels/development.ts
 *   countersign run shop --input 'My lamp came broken'
 *
 */
import { conditional, consoleChannel } from 'countersign/channels';
import { policy, shop } from './shop.ts';

export default {
  agents: [shop],
  policy,
  channels: { desk: conditional({ below: 'high', otherwise: consoleChannel({ timeoutMs: 120_000 }) }) },
};
