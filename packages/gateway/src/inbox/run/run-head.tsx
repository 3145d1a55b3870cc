import type { RecordedEvent } from 'countersign/client';
import type { ShownRun } from '../../http/inbox/api.ts';
import { LocalTime } from '../parts/local-time.tsx';
import { Foreign } from '../parts/shown-text.tsx';
import { TemporalLink } from '../parts/temporal-link.tsx';

interface RunHeadProps {
  run: ShownRun;
  status: string;
  events: readonly RecordedEvent[];
}

/** What a run is: its agent and caller as far as its events name them, its times, and where it runs. */
export function RunHead({ run, status, events }: RunHeadProps) {
  const asked = events.find((event) => event.type === 'ApprovalRequestEvent');
  const agent = asked?.agentName ?? run.open[0]?.agentName;
  return (
    <div class="run-head">
      <span class={`run-status ${status}`}>{status}</span>
      {agent !== undefined && (
        <span>
          agent <Foreign text={agent} most={100} />
        </span>
      )}
      <span>
        started <LocalTime at={run.startedAt} />
      </span>
      {run.closedAt !== undefined && (
        <span>
          ended <LocalTime at={run.closedAt} />
        </span>
      )}
      <span>
        task queue <Foreign text={run.taskQueue} />
      </span>
      <TemporalLink workflowId={run.workflowId} />
    </div>
  );
}
