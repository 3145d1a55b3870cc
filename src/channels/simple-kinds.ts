import { z } from 'zod';
import { severities } from '../core/base/tool-call.ts';
import { autoApprove } from './auto-approve.ts';
import { autoDeny } from './auto-deny.ts';
import type { ChannelKind } from './channel-kind.ts';
import { conditional } from './conditional.ts';
import { consoleChannel } from './console-channel.ts';
import { durationShape } from './duration-shape.ts';

const longestReason = 2_000;
const reason = z.string().max(longestReason, `must have at most ${longestReason} characters`).optional();
const reasonShape = z.strictObject({ reason });
const conditionalShape = z.strictObject({ below: z.enum(severities), otherwise: z.string(), reason });
const consoleShape = z.strictObject({ timeout: durationShape('365d').optional() });

const autoApproveKind: ChannelKind<z.infer<typeof reasonShape>> = { shape: reasonShape, make: autoApprove };
const autoDenyKind: ChannelKind<z.infer<typeof reasonShape>> = { shape: reasonShape, make: autoDeny };
const conditionalKind: ChannelKind<z.infer<typeof conditionalShape>> = {
  shape: conditionalShape,
  refersTo: ['otherwise'],
  make: async ({ otherwise, ...rest }, context) =>
    conditional({ ...rest, otherwise: await context.channel(otherwise) }),
};
const consoleKind: ChannelKind<z.infer<typeof consoleShape>> = {
  shape: consoleShape,
  make: ({ timeout }) => consoleChannel({ timeoutMs: timeout }),
};

/** The kinds that need nothing but the worker, by the names that channel files use. */
export const simpleKinds: Readonly<Record<string, ChannelKind>> = {
  auto_approve: autoApproveKind,
  auto_deny: autoDenyKind,
  conditional: conditionalKind,
  console: consoleKind,
};
