/**
 * A service in the house decides: over a proxy and with certificates of both sides, and by a signature that it checks already.
 *
 *   WEBHOOK_SECRET=whsec_… LEGACY_SECRET=… countersign worker examples/channels/in-house.ts
 *   countersign run shop --input 'My lamp came broken'
 *
 */
import { join } from 'node:path';
import { policy, shop } from './shop.ts';

export default { agents: [shop], policy, channels: join(import.meta.dirname, 'in-house.yaml') };
