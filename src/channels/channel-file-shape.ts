import { z } from 'zod';
import { severities } from '../core/base/tool-call.ts';
import { requestRouteProblem } from '../core/people/channel-routes.ts';
import { quietHoursProblem, type QuietHours } from './quiet-hours.ts';
import { isTimeZone } from '../text/instant-text.ts';
import { durationShape } from './duration-shape.ts';

/** The name of a channel in a channel file. */
export const channelName = z.string().regex(/^[a-z0-9_-]{1,64}$/, 'must be 1 to 64 characters of a-z, 0-9, - and _');
const longestName = 200;
const reviewer = z
  .string()
  .min(1, 'must not be empty')
  .max(longestName, `must have at most ${longestName} characters`)
  .regex(/^\S(?:.*\S)?$/su, 'must not begin or end with a space');
const listOfNames = z.array(z.string());
const isWithoutRepetition = (names: readonly string[]): boolean => new Set(names).size === names.length;
const repeated = 'must not name a channel twice';
const channelNames = listOfNames.refine(isWithoutRepetition, repeated);
const mostRoutes = 100;
/** A route of requests. Its conditions are checked as those of a worker's options. */
const requestRoute = z
  .strictObject({
    tool: z.string().optional(),
    agent: z.string().optional(),
    min_severity: z.enum(severities).optional(),
    channels: listOfNames.min(1, 'must name a channel').refine(isWithoutRepetition, repeated),
  })
  .superRefine(({ tool, agent, min_severity: minSeverity }, context) => {
    const found = requestRouteProblem({ tool, agent, minSeverity });
    if (found === undefined) return;
    const path = found.member === undefined ? [] : [found.member];
    context.addIssue({ code: 'custom', message: found.problem, path });
  });
const quietHours = z
  .strictObject({
    from: z.string().optional(),
    to: z.string().optional(),
    time_zone: z.string(),
    workdays: z.array(z.string()).optional(),
    holidays: z.array(z.string()).optional(),
    above: z.enum(severities).optional(),
  })
  .superRefine((written, context) => {
    const found = quietHoursProblem(quietHoursOf(written));
    if (found === undefined) return;
    const path = found.member === undefined ? [] : [found.member === 'timeZone' ? 'time_zone' : found.member];
    context.addIssue({ code: 'custom', message: found.problem, path });
  });

/** A time zone in a channel file. */
export const timeZoneShape = z.string().refine(isTimeZone, 'must be a time zone that exists, such as Europe/Berlin');

/** What a channel file says, apart from the members of each channel, which are its kind's. */
export const channelFileShape = z.strictObject({
  channels: z.record(
    channelName,
    z.looseObject({ kind: z.string(), quiet_hours: z.union([quietHours, z.literal(false)]).optional() }),
  ),
  routes: z
    .strictObject({
      default: channelNames,
      reviewers: z.record(reviewer, channelNames).optional(),
      requests: z.array(requestRoute).max(mostRoutes, `must have at most ${mostRoutes} routes`).optional(),
    })
    .optional(),
  quiet_hours: quietHours.optional(),
  batch: durationShape('1h').optional(),
});

export type ChannelDocument = z.infer<typeof channelFileShape>;

/** As they are in code. What they say is checked apart. */
export function quietHoursOf({ time_zone: timeZone, ...hours }: z.infer<typeof quietHours>): QuietHours {
  return { ...hours, timeZone } as QuietHours;
}
