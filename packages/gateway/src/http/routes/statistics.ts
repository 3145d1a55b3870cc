import { OpenAPIHono, z } from '@hono/zod-openapi';
import { surveyDecisions, type Survey } from 'countersign/adapter';
import { decisionStatistics, policyInForce } from 'countersign/audit';
import type { Covered, PresentPolicy, Statistics } from '../inbox/api.ts';
import { defineRoute } from '../shapes/define-route.ts';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import { json } from '../shapes/response-shapes.ts';
import { presentPolicyShape, statisticsShape } from '../shapes/statistics-shapes.ts';
import { SurveyQueue } from '../inbox/survey-queue.ts';

const minuteMs = 60_000;
const defaultSpanMs = 7 * 24 * 60 * minuteMs;
const longestSpanMs = 400 * 24 * 60 * minuteMs;

const query = z.strictObject({
  since: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('Counts the calls ruled on and the requests opened at this instant or later. Default: 7 days ago.'),
});

const policy = defineRoute('GET /policy', {
  summary: 'The policy of the operator that binds new runs, as the newest run recorded it, and what each rule did',
  request: { query },
  responses: { 200: json(presentPolicyShape, 'The policy') },
});

const statistics = defineRoute('GET /statistics', {
  summary: 'How rules ask, how reviewers answer, and what agents used',
  request: { query },
  responses: { 200: json(statisticsShape, 'The figures') },
});

interface Counted {
  survey: Survey;
  covered: Covered;
  sinceMs: number;
}

/** The policy in force and the statistics: for operators. One survey of the runs at a time serves all of them. */
export function statisticsRoutes({ client, stopping }: GatewayContext): OpenAPIHono<HttpEnv> {
  const surveys = new SurveyQueue<Counted>();
  const surveyed = (since: string | undefined): Promise<Counted> => {
    const sinceMs = wholeMinute(since === undefined ? Date.now() - defaultSpanMs : Date.parse(since));
    return surveys.ask(String(sinceMs), async () => {
      const survey = await surveyDecisions(client.session, { sinceMs, signal: stopping });
      const { runs, unread, more } = survey;
      const at = new Date().toISOString();
      return {
        survey,
        sinceMs,
        covered: { since: new Date(sinceMs).toISOString(), at, runs: runs.length, unread, more },
      };
    });
  };
  return new OpenAPIHono<HttpEnv>()
    .openapi(policy, async (context) => {
      const { survey, covered, sinceMs } = await surveyed(context.req.valid('query').since);
      const { present, ...rest } = policyInForce(survey.runs);
      const { rules } = decisionStatistics(survey.runs, sinceMs);
      const ofPresent = rules.filter((each) => each.layer === 'ceiling' && each.policy === present?.digest);
      const answer: PresentPolicy = {
        covered,
        ...(present && {
          present: {
            ...present,
            rules: present.rules.map((each) => ({
              ...each,
              statistics: ofPresent.find(({ rule }) => rule === each.id),
            })),
          },
        }),
        ...rest,
      };
      return context.json(answer, 200);
    })
    .openapi(statistics, async (context) => {
      const { survey, covered, sinceMs } = await surveyed(context.req.valid('query').since);
      const answer: Statistics = { covered, ...decisionStatistics(survey.runs, sinceMs) };
      return context.json(answer, 200);
    });
}

/** Rounds down, so that requests within a minute are counted once. */
function wholeMinute(ms: number): number {
  const oldest = Date.now() - longestSpanMs;
  return Math.floor(Math.max(ms, oldest) / minuteMs) * minuteMs;
}
