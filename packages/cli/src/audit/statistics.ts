import { type Command, Option } from 'commander';
import { type ClientFlags, wholeNumber, withClient, withClientFlags } from '../base/command-line.ts';
import { durationOption } from '../base/client-options.ts';
import { jsonFields } from '../base/json-fields.ts';

interface StatisticsOptions extends ClientFlags {
  since: number;
  limit: number;
  markdown?: boolean;
}

const minuteMs = 60_000;
const weekMs = 7 * 24 * 60 * minuteMs;
/** The time limit of the survey. It is long, because the survey may read the histories of thousands of runs. */
const timeoutMs = 15 * minuteMs;

/** Adds the command that summarizes the decisions of the last days, as text or JSON. */
export function addStatistics(command: Command): void {
  withClientFlags(command, jsonFields.summary)
    .addOption(
      new Option('--since <duration>', 'how long ago the time began')
        .argParser(durationOption(minuteMs))
        .default(weekMs, '7d'),
    )
    .addOption(new Option('--markdown', 'print the text, also where no terminal reads it').conflicts('json'))
    .option('--limit <n>', 'the most runs to read', wholeNumber(1, 100_000), 2_000)
    .action((options: StatisticsOptions) =>
      withClient(options, async (client, output) => {
        const [{ surveyDecisions }, { decisionSummary, summaryMarkdown }] = await Promise.all([
          import('countersign/adapter'),
          import('countersign/audit'),
        ]);
        const { since, limit: mostRuns, markdown = false } = options;
        const nowMs = Date.now();
        const sinceMs = nowMs - since;
        const survey = await surveyDecisions(client.session, { sinceMs, mostRuns, timeoutMs });
        const summary = decisionSummary(survey, { sinceMs, nowMs });
        if (output.forPeople || markdown) output.line(summaryMarkdown(summary));
        else output.json(summary);
        if (survey.more) output.note(`There are more runs: --limit ${mostRuns} was reached.`);
      }),
    );
}
