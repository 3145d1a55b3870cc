/**
 * A function on the worker decides. A bare boolean is enough; `reason` says why, for the model and for the record.
 *
 *   countersign worker examples/channels/function.ts
 *   countersign run shop --input 'My lamp came broken'
 *
 */
import { callback, type ChannelRequest } from 'countersign/channels';
import { policy, shop } from './shop.ts';

/** Stands for a look into a database. */
async function isKnownOrder(orderId: unknown): Promise<boolean> {
  return orderId === 'o-17';
}

const clerk = callback(({ toolName, arguments: args }) => toolName === 'replace_item' && isKnownOrder(args.orderId), {
  reason: ({ toolName }: ChannelRequest, approved) =>
    approved ? 'The order is known.' : `${toolName} is not for a function to approve.`,
});

export default { agents: [shop], policy, channels: { clerk } };

/** The shortest channel of all: a function itself. */
export const noDeletions = ({ toolName }: ChannelRequest): boolean => toolName !== 'delete_account';
