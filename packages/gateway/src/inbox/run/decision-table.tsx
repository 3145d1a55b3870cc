import { LocalTime } from '../parts/local-time.tsx';
import { Foreign } from '../parts/shown-text.tsx';
import { requestHref } from '../state/location.ts';
import { decisionText } from '../parts/decision-text.ts';
import type { Decided } from './timeline.ts';

/** What people were asked in a run, and what they decided. */
export function DecisionTable({ decisions }: { decisions: readonly Decided[] }) {
  return (
    <section aria-labelledby="decisions-title">
      <h2 id="decisions-title">Decisions</h2>
      {decisions.length === 0 ? (
        <p class="soft">Nobody was asked.</p>
      ) : (
        <div class="scroll" role="region" aria-label="Table of decisions" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Asked</th>
                <th scope="col">Request</th>
                <th scope="col">Decision</th>
                <th scope="col">Decided</th>
                <th scope="col">Ran</th>
              </tr>
            </thead>
            <tbody>
              {decisions.map(({ request, result, ran }) => (
                <tr key={request.requestId}>
                  <td>
                    <LocalTime at={request.at} />
                  </td>
                  <td class="words">
                    <a href={requestHref(request)}>
                      <Foreign text={request.sentence ?? request.toolName} most={200} />
                    </a>
                  </td>
                  <td class="words">
                    {result === undefined ? 'open' : <Foreign text={decisionText(result)} most={300} />}
                  </td>
                  <td>{result !== undefined && <LocalTime at={result.at} />}</td>
                  <td>{ran ?? ''}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
