/**
 * Whoever sits at the terminal of the worker is asked: [a]pprove, [A]lways, [d]eny or [s]kip, and Enter.
 *
 *   countersign worker examples/channels/terminal.ts
 *   countersign run shop --input 'My lamp came broken'
 *
 * The second command needs a terminal of its own.
 */
import { consoleChannel } from 'countersign/channels';
import { policy, shop } from './shop.ts';

export default {
  agents: [shop],
  policy,
  // A request that nobody answers within two minutes expires.
  channels: { terminal: consoleChannel({ timeoutMs: 120_000 }) },
};
