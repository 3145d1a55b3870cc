import { useState } from 'preact/hooks';
import type { Grant } from 'countersign/client';
import type { GrantList as Grants } from '../../http/inbox/api.ts';
import { apiPath, sendJson } from '../api/fetch-json.ts';
import { useJson } from '../api/use-json.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Foreign } from '../parts/shown-text.tsx';
import { announce } from '../state/announcements.ts';
import { scopeText, usesText } from './grant-text.ts';

interface GrantListProps {
  workflowId: string;
  /** Read again when it changes. */
  version: number;
  mayRevoke: boolean;
}

/** What "always" decisions have left behind in a run. */
export function GrantList({ workflowId, version, mayRevoke }: GrantListProps) {
  const path = apiPath`/runs/${workflowId}/grants`;
  const { value, problem, reload } = useJson<Grants>(path, version);
  const [revoking, setRevoking] = useState<Grant>();
  const grants = value?.grants ?? [];
  return (
    <section aria-labelledby="grants-title">
      <h2 id="grants-title">Grants</h2>
      {problem !== undefined && <p class="soft">{problem.message}</p>}
      {value !== undefined && grants.length === 0 && <p class="soft">No grant is in force.</p>}
      <ul class="rows">
        {grants.map((grant) => (
          <li key={grant.grantId}>
            <div>
              <b class={grant.approved ? 'good' : 'bad'}>{grant.approved ? 'Approves' : 'Denies'}</b>{' '}
              <Foreign text={scopeText(grant)} />
              <p class="soft">
                <Foreign text={usesText(grant)} />
              </p>
            </div>
            {mayRevoke && (
              <button type="button" onClick={() => setRevoking(grant)} aria-label={`Revoke ${grant.grantId}`}>
                Revoke
              </button>
            )}
          </li>
        ))}
      </ul>
      {revoking !== undefined && (
        <ConfirmDialog
          title={`Revoke ${revoking.grantId}?`}
          act="Revoke"
          keep="Keep it"
          askReason
          onClose={() => setRevoking(undefined)}
          onConfirm={async (reason) => {
            const path = apiPath`/runs/${workflowId}/grants/${revoking.grantId}`;
            await sendJson('DELETE', reason === '' ? path : `${path}?reason=${encodeURIComponent(reason)}`);
            announce(`${revoking.grantId} is revoked.`, 'good');
            reload();
          }}
        >
          <p>
            Further calls are asked about again: <Foreign text={scopeText(revoking)} />
          </p>
        </ConfirmDialog>
      )}
    </section>
  );
}
