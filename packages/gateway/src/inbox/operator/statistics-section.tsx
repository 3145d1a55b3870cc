import { shownPerson } from 'countersign/base';
import type { AgentUsage, ReviewerStatistics, RuleStatistics } from 'countersign/audit';
import type { Statistics } from '../../http/inbox/api.ts';
import { columnHeads, TableFrame } from '../parts/tables.tsx';
import { Foreign } from '../parts/shown-text.tsx';
import { isHasty, MedianCell, QuickNote, ShareCell, ruleFigureHeads, RuleFigures } from './figures.tsx';

/** The figures of reviewers, agents and rules. `present`: the digest of the present policy. */
export function StatisticsSection({ answer, present }: { answer: Statistics; present: string | undefined }) {
  // `PolicySection` shows the figures of the rules of the present policy.
  const others = answer.rules.filter(({ layer, policy }) => layer !== 'ceiling' || policy !== present);
  return (
    <>
      <section aria-labelledby="reviewers-title">
        <h2 id="reviewers-title">Reviewers</h2>
        {answer.reviewers.length === 0 ? (
          <p class="soft">No request was answered in this time.</p>
        ) : (
          <ReviewerTable reviewers={answer.reviewers} />
        )}
        <Left count={answer.left.reviewers} what="reviewers" />
      </section>
      {answer.agents.length > 0 && (
        <section aria-labelledby="agents-title">
          <h2 id="agents-title">Agents</h2>
          <AgentTable agents={answer.agents} />
          <Left count={answer.left.agents} what="agents" />
        </section>
      )}
      {others.length > 0 && (
        <section aria-labelledby="rules-title">
          <h2 id="rules-title">Other rules</h2>
          <TableFrame label="Table: Other rules" head={columnHeads(`Rule, Of, ${ruleFigureHeads}`)}>
            {others.map((each) => (
              <tr key={`${each.layer} ${each.policy ?? each.agent} ${each.rule}`}>
                <th scope="row">
                  <Foreign text={each.rule ?? 'Calls without a rule'} most={80} />
                </th>
                <td class="words">
                  <Foreign text={sourceOf(each)} most={120} />
                </td>
                <RuleFigures figures={each} />
              </tr>
            ))}
          </TableFrame>
          <Left count={answer.left.rules} what="rules" />
        </section>
      )}
    </>
  );
}

const reviewerHeads = 'Reviewer, Answers, Approved, Median, Under 3 s, Card shown under 3 s, In batches, Verified';

function ReviewerTable({ reviewers }: { reviewers: readonly ReviewerStatistics[] }) {
  return (
    <TableFrame label="Table: Reviewers" head={columnHeads(reviewerHeads)}>
      {reviewers.map((each) => (
        <tr key={each.reviewerId ?? ''}>
          <th scope="row">
            {each.reviewerId === null ? (
              <span class="soft">no name</span>
            ) : (
              <Foreign text={shownPerson(each.reviewerId, each.reviewerName)} most={160} />
            )}
            <QuickNote shares={[each.glanced, each.underThreeSeconds]} />
          </th>
          <td class="figure">{each.answers}</td>
          <ShareCell share={each.approvalRate} />
          <MedianCell ms={each.medianMs} />
          <ShareCell share={each.underThreeSeconds} isWarning={isHasty(each.underThreeSeconds)} />
          <ShareCell share={each.glanced} isWarning={isHasty(each.glanced)} />
          <ShareCell share={each.inBatches} />
          <ShareCell share={each.verified} />
        </tr>
      ))}
    </TableFrame>
  );
}

function AgentTable({ agents }: { agents: readonly AgentUsage[] }) {
  return (
    <TableFrame
      label="Table: Agents"
      head={columnHeads('Agent, Runs, Open or failed, Input tokens, Output tokens, Cost')}
    >
      {agents.map((each) => (
        <tr key={each.agent}>
          <th scope="row">
            <Foreign text={each.agent} most={80} />
          </th>
          <td class="figure">{each.runs}</td>
          <td class="figure">{each.others}</td>
          <td class="figure">{each.inputTokens.toLocaleString('en')}</td>
          <td class="figure">{each.outputTokens.toLocaleString('en')}</td>
          <td class="figure">
            {each.costs.map(({ currency, amount }) => `${amount.toFixed(2)} ${currency}`).join(', ') || '–'}
            {each.costs.length > 0 && each.unpriced > 0 && (
              <p class="soft">{`${each.unpriced} runs without a price`}</p>
            )}
          </td>
        </tr>
      ))}
    </TableFrame>
  );
}

function Left({ count, what }: { count: number; what: string }) {
  return count === 0 ? null : <p class="soft">{`${count} more ${what} are not shown.`}</p>;
}

const sources: Readonly<Record<string, string>> = {
  ceiling: 'an earlier policy of the operator',
  parent: 'the policy of a calling run',
  agent: 'the policy of an agent',
  run: 'the policy of a run',
  grant: 'grants of reviewers',
  default: 'the risk of the tool, or the mode',
};

function sourceOf({ layer, agent, policy }: RuleStatistics): string {
  const source = sources[layer] ?? layer;
  if (policy !== undefined) return `${source} (${policy.slice(0, 12)})`;
  return agent === undefined ? source : `${source} (${agent})`;
}
