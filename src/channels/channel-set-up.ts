import type { RequestRoute } from '../core/people/channel-routes.ts';
import type { Channel } from './channel.ts';
import type { QuietHours } from './quiet-hours.ts';

/** Which channels carry which requests. */
export interface WorkerRoutes {
  /** The channels of requests that no route matches. Default: all that no route names. */
  default: readonly string[];
  /** By person, or `group:NAME`. */
  reviewers: Readonly<Record<string, readonly string[]>>;
  /** By tool, agent and severity. Every route that matches counts, those of reviewers too. */
  requests?: readonly RequestRoute[];
}

/** What a channel file says. */
export interface ChannelSetUp {
  channels: Record<string, Channel>;
  routes: WorkerRoutes;
  quietHours?: QuietHours;
  /** Those of single channels, in their place; `false`: none. */
  quietHoursOf?: Readonly<Record<string, QuietHours | false>>;
  /** For how long the requests of one run are collected into one message, in milliseconds. Absent: not at all. */
  batchMs?: number;
}
