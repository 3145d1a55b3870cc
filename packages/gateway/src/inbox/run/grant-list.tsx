import { useState } from 'preact/hooks';

import type { Grant } from 'countersign/client';
import type { RunGrants as Grants } from '../../http/inbox/api.ts';
import { apiPath, sendJson } from '../api/fetch-json.ts';
import { useJson } from '../api/use-json.ts';
import { ConfirmDialog } from '../parts/modal.tsx';
import { Foreign } from '../parts/shown-text.tsx';
import { announceText } from '../state/store.ts';
import { reviewerText } from './decision-text.ts';
import { Button } from '../parts/controls.tsx';

interface GrantListProps {
  workflowId: string;
  version: number;
  mayRevoke: boolean;
}

/** The grants that are in force in a run. A new `version` reads them again. */
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
              <Button onClick={() => setRevoking(grant)} aria-label={`Revoke ${grant.grantId}`}>
                Revoke
              </Button>
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
            announceText(`${revoking.grantId} is revoked.`, 'good');
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

function scopeText({ tool, scope, denials }: Pick<Grant, 'tool' | 'scope' | 'denials'>): string {
  if (denials !== undefined) return `calls of ${tool} that would be asked about, after ${denials} denials`;
  if (scope.kind === 'call') return `exactly the same call of ${tool}`;
  if (scope.kind === 'tool') return `every call of ${tool}`;
  const globs = Object.entries(scope.match).map(([name, glob]) => `${name} matches ${glob}`);
  return `calls of ${tool} where ${globs.join(' and ')}`;
}

/** Names a grant and the reviewers who made it, and says for how many more calls and until when it counts. */
function usesText({ grantId, by = [], usesLeft, expiresAtMs, denials }: Grant): string {
  const names = by.map(({ reviewerId = null, ...named }) =>
    reviewerId === null ? 'an unnamed reviewer' : reviewerText({ ...named, reviewerId }),
  );
  return [
    grantId,
    ...(names.length > 0 ? [`by ${names.join(', ')}`] : []),
    usesLeft === undefined ? 'any number of times' : `${usesLeft} ${usesLeft === 1 ? 'use' : 'uses'} left`,
    endText({ expiresAtMs, denials }),
  ].join(' · ');
}

function endText({ expiresAtMs, denials }: Pick<Grant, 'expiresAtMs' | 'denials'>): string {
  if (denials !== undefined) return 'until its user writes, or the run ends';
  return expiresAtMs === undefined ? 'until the run ends' : `until ${new Date(expiresAtMs).toLocaleString()}`;
}
