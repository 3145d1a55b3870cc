import type { RequestRoute } from '../core/people/channel-routes.ts';
import type { Severity } from '../core/base/tool-call.ts';
import type { Channel } from './channel.ts';

/** Which channels carry which requests. */
export interface WorkerRoutes {
  /** The channels of requests that no route matches. Default: all that no route names. */
  default: readonly string[];
  /** By person, or `group:NAME`. */
  reviewers: Readonly<Record<string, readonly string[]>>;
  /** By tool, agent and severity. Every route that matches counts, those of reviewers too. */
  requests?: readonly RequestRoute[];
}

/** When only urgent requests are carried to people; the others wait for the end of these hours. */
export interface QuietHours {
  /** A time of day, such as `22:00`. */
  from: string;
  /** A time of day; before `from` if the hours go past midnight. */
  to: string;
  /** Such as `Europe/Berlin`. */
  timeZone: string;
  /** Requests of a higher severity are carried all the same. Default `high`: only critical ones are. */
  above?: Severity;
}

/** What a channel file says. */
export interface ChannelSetUp {
  channels: Record<string, Channel>;
  routes: WorkerRoutes;
  quietHours?: QuietHours;
  /** For how long the requests of one run are collected into one message, in milliseconds. Absent: not at all. */
  batchMs?: number;
}
