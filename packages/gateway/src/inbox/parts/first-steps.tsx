import type { AgentList, RunList } from '../../http/inbox/api.ts';
import { useJson } from '../api/use-json.ts';
import { hrefOf } from '../state/location.ts';
import { meOf, session } from '../state/me.ts';
import { useStore } from '../state/store.ts';
import { Foreign } from './shown-text.tsx';

/** Shows how to start a run, as long as there is none. */
export function FirstSteps() {
  const me = meOf(useStore(session));
  const { value: list } = useJson<RunList>('/runs?limit=1');
  const isFirst = list?.runs.length === 0;
  const { value: known } = useJson<AgentList>(isFirst ? '/agents' : undefined);
  if (!isFirst) return null;
  const [agent = 'AGENT'] = known?.agents ?? [];
  return (
    <div class="note first-steps">
      <p>No run has been started yet.</p>
      <ul>
        {me?.roles.includes('starter') === true && (
          <li>
            <a href={hrefOf('/start')}>Start a run here</a>
          </li>
        )}
        <li>
          In a terminal:{' '}
          <code>
            countersign run <Foreign text={agent} most={80} /> --input Hello
          </code>
        </li>
        {me?.temporalUi !== undefined && (
          <li>
            <a href={me.temporalUi} target="_blank" rel="noreferrer">
              See its history in Temporal's UI
            </a>
          </li>
        )}
      </ul>
    </div>
  );
}
