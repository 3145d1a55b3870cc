import type { Rule } from 'countersign/policy';
import type { PresentPolicy } from '../../http/inbox/api.ts';
import { LocalTime } from '../parts/time.tsx';
import { columnHeads, TableFrame } from '../parts/tables.tsx';
import { Foreign } from '../parts/shown-text.tsx';
import { ruleFigureHeads, RuleFigures } from './figures.tsx';

export function PolicySection({ answer }: { answer: PresentPolicy }) {
  const { present, others, withoutPolicy } = answer;
  return (
    <section aria-labelledby="policy-title">
      <h2 id="policy-title">Policy in force</h2>
      {present === undefined ? (
        <p>
          {others.length === 0 && withoutPolicy === 0
            ? 'No run has recorded a policy yet.'
            : 'No policy of the operator binds the newest run. The risk of each tool decides.'}
        </p>
      ) : (
        <>
          <p class="soft">
            Policy <code title={present.digest}>{present.digest.slice(0, 7)}</code>
            {present.firstAt === undefined ? (
              ' · of the worker; no run has recorded it yet'
            ) : (
              <LocalTime before=" · in use since " at={present.firstAt} />
            )}
            {present.policy.mode !== undefined && ` · mode ${present.policy.mode}`}
          </p>
          <TableFrame label="Table: Rules of the policy" head={columnHeads(`Rule, For, Action, ${ruleFigureHeads}`)}>
            {present.rules.map(({ id, place, rule, statistics }, index) => (
              <tr key={index}>
                <th scope="row">
                  <Foreign text={id} most={80} />
                  {place !== undefined && (
                    <p class="soft place">
                      <Foreign text={place} most={120} />
                    </p>
                  )}
                </th>
                <td class="conditions">
                  <code>
                    <Foreign text={conditionsOf(rule)} most={300} lines />
                  </code>
                </td>
                <td>
                  <span class={`action ${rule.action}`}>{rule.action}</span>
                  {rule.ask?.reviewers !== undefined && (
                    <p class="soft">
                      <Foreign text={rule.ask.reviewers.join(', ')} most={120} />
                    </p>
                  )}
                </td>
                <RuleFigures figures={statistics} />
              </tr>
            ))}
          </TableFrame>
        </>
      )}
      {(others.length > 0 || withoutPolicy > 0) && (
        <details>
          <summary>Earlier policies of these runs</summary>
          <ul>
            {others.map(({ digest, runs, firstAt, lastAt }) => (
              <li key={digest}>
                <code title={digest}>{digest.slice(0, 7)}</code>: {runs} {runs === 1 ? 'run' : 'runs'}, from{' '}
                <LocalTime at={firstAt} /> to <LocalTime at={lastAt} />
              </li>
            ))}
            {withoutPolicy > 0 && <li>no policy: {withoutPolicy} runs</li>}
          </ul>
        </details>
      )}
    </section>
  );
}

/** What a call must have for a rule to apply, one condition in each line. */
function conditionsOf({ pattern, agent, args = {}, when }: Rule): string {
  return [
    pattern,
    ...Object.entries(args).map(([name, glob]) => `${name}: ${glob}`),
    ...(when === undefined ? [] : [`when ${when}`]),
    ...(agent === undefined ? [] : [`calls of ${agent}`]),
  ].join('\n');
}
