import { OpenAPIHono, z } from '@hono/zod-openapi';
import { surveyDecisions, type Survey } from 'countersign/adapter';
import { decidedCsv, decidedRequests, decisionStatistics, placedPolicy, policyInForce } from 'countersign/audit';
import type { Covered, DecidedList, PresentPolicy, Statistics } from '../inbox/api.ts';
import { requirePrincipal } from '../identity/principal.ts';
import { defineRoute } from '../shapes/define-route.ts';
import type { PolicyInForce, RecordedPolicy } from 'countersign/audit';
import type { GatewayContext, HttpEnv, KnownWorker } from '../gateway-context.ts';
import * as answers from '../shapes/response-shapes.ts';
import { decidedList, presentPolicyShape, statisticsShape } from '../shapes/statistics-shapes.ts';
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
  responses: { 200: answers.json(presentPolicyShape, 'The policy') },
});

const statistics = defineRoute('GET /statistics', {
  summary: 'How rules ask, how reviewers answer, and what agents used',
  request: { query },
  responses: { 200: answers.json(statisticsShape, 'The figures') },
});

const decided = defineRoute('GET /decided', {
  summary: 'The requests that were settled, the newest first',
  request: {
    query: z.strictObject({
      since: z.iso
        .datetime({ offset: true })
        .optional()
        .describe('Settled at this instant or later. Default: 7 days ago.'),
      by: z.enum(['me', 'everyone']).optional().describe('Default: everyone.'),
      outcome: z.string().max(40).optional(),
      tool: z.string().max(200).optional(),
      format: z.enum(['json', 'csv']).optional(),
    }),
  },
  responses: { 200: answers.json(decidedList, 'The requests; with `format=csv`, a table for spreadsheets.') },
});

const mostDecided = 500;

interface Counted {
  survey: Survey;
  covered: Covered;
  sinceMs: number;
}

/** The routes of figures and of decided requests. They share their surveys, because a survey reads many histories. */
export function statisticsRoutes({ client, stopping, worker }: GatewayContext): OpenAPIHono<HttpEnv> {
  const surveys = new SurveyQueue<Counted>();
  /** The survey since a time. Requests for the same minute share one survey. */
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
    .openapi(decided, async (context) => {
      const { since, by, outcome, tool, format } = context.req.valid('query');
      const { survey, covered, sinceMs } = await surveyed(since);
      const readerId = requirePrincipal(context.var).id;
      const all = decidedRequests(survey.runs, { sinceMs, readerId });
      const found = all.filter(
        (each) =>
          (by !== 'me' || each.mine) &&
          (outcome === undefined || each.outcome === outcome) &&
          (tool === undefined || each.toolName === tool),
      );
      if (format === 'csv') {
        const headers = { 'content-disposition': 'attachment; filename="decided.csv"' };
        return context.body(decidedCsv(found), 200, { 'content-type': 'text/csv; charset=utf-8', ...headers });
      }
      const tools = [...new Set(all.map(({ toolName }) => toolName))].sort();
      const answer: DecidedList = { covered, requests: found.slice(0, mostDecided), matching: found.length, tools };
      return context.json(answer, 200);
    })
    .openapi(policy, async (context) => {
      const { survey, covered, sinceMs } = await surveyed(context.req.valid('query').since);
      const { present, ...rest } = withWorkersPolicy(policyInForce(survey.runs), worker());
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

type Present = Pick<PresentPolicy, 'present' | 'others' | 'withoutPolicy'>;

/** Puts the policy of the gateway's own worker, if it has one, first: it binds new runs before any has recorded it. */
function withWorkersPolicy(recorded: PolicyInForce, worker: KnownWorker | undefined): Present {
  if (worker?.policy === undefined) return recorded;
  const declared = placedPolicy(worker.policy, worker.ruleLines);
  const { present, others, withoutPolicy } = recorded;
  if (declared.digest === present?.digest) return recorded;
  const earlier = others.filter(({ digest }) => digest !== declared.digest);
  const record = others.find(({ digest }) => digest === declared.digest);
  return {
    present: { runs: 0, ...record, ...declared },
    others: present === undefined ? earlier : [recordOf(present), ...earlier],
    withoutPolicy,
  };
}

function recordOf({ digest, firstAt, lastAt, runs }: RecordedPolicy): RecordedPolicy {
  return { digest, firstAt, lastAt, runs };
}

/** A time of at most `longestSpanMs` ago, rounded down to its minute, so that requests in one minute share a survey. */
function wholeMinute(ms: number): number {
  const oldest = Date.now() - longestSpanMs;
  return Math.floor(Math.max(ms, oldest) / minuteMs) * minuteMs;
}
