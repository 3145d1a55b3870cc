import { useState } from 'preact/hooks';
import type { Covered, PresentPolicy, Statistics } from '../../http/inbox/api.ts';
import { useJson } from '../api/use-json.ts';
import { PolicySection } from '../operator/policy-section.tsx';
import { StatisticsSection } from '../operator/statistics-section.tsx';
import { Button, ProblemText, SelectField } from '../parts/controls.tsx';
import { NeedsRole } from '../parts/sign-in.tsx';
import { LocalTime } from '../parts/time.tsx';
import { currentLocation, hrefOf, navigate } from '../state/location.ts';
import { meOf, session } from '../state/me.ts';
import { useStore } from '../state/store.ts';

const hourMs = 3_600_000;
const spans = [
  ['day', 'last 24 hours', 24 * hourMs],
  ['week', 'last 7 days', 7 * 24 * hourMs],
  ['month', 'last 30 days', 30 * 24 * hourMs],
] as const;

export function OperatorView() {
  const me = meOf(useStore(session));
  const { query } = useStore(currentLocation);
  const asked = new URLSearchParams(query).get('last');
  const [name, , spanMs] = spans.find(([each]) => each === asked) ?? spans[1];
  // Both requests send the same instant, so that the gateway surveys the runs once for both.
  const [openedMs, setOpenedMs] = useState(Date.now);
  const isOperator = me?.roles.includes('operator') ?? false;
  const since = encodeURIComponent(new Date(openedMs - spanMs).toISOString());
  const policy = useJson<PresentPolicy>(isOperator ? `/policy?since=${since}` : undefined);
  const statistics = useJson<Statistics>(isOperator ? `/statistics?since=${since}` : undefined);
  if (me !== undefined && !isOperator) return <NeedsRole title="Policy and statistics" role="operator" />;
  const problem = policy.problem ?? statistics.problem;
  return (
    <article class="operator">
      <h1>Policy and statistics</h1>
      <div class="filters plain">
        <SelectField
          label="Period"
          value={name}
          choices={spans.map(([value, words]) => [value, words])}
          choose={(value) => navigate(hrefOf(`/operator?last=${value}`), { replace: true })}
        />
        <Button onClick={() => setOpenedMs(Date.now())}>Refresh</Button>
      </div>
      {problem !== undefined && <ProblemText>{problem.message}</ProblemText>}
      {statistics.value !== undefined && <CoveredNote covered={statistics.value.covered} />}
      {(policy.isLoading || statistics.isLoading) && <p class="soft">Reading the histories of the newest runs …</p>}
      {policy.value !== undefined && <PolicySection answer={policy.value} />}
      {statistics.value !== undefined && (
        <StatisticsSection answer={statistics.value} present={policy.value?.present?.digest} />
      )}
    </article>
  );
}

function CoveredNote({ covered: { runs, unread, more, since, at } }: { covered: Covered }) {
  return (
    <p class="soft">
      {runs} {runs === 1 ? 'run' : 'runs'} since <LocalTime at={since} /> · updated <LocalTime at={at} />
      {more && ' · There are more runs: the open ones and those that ended last are counted.'}
      {unread > 0 && ` · ${unread} runs could not be read, or not in time.`}
    </p>
  );
}
