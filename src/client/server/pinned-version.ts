import type { temporal } from '@temporalio/proto';
import { parseJson } from '../../core/base/json.ts';
import { quoteWord } from '../../text/visible-text.ts';
import type { Session } from './connect.ts';

/** A Worker Deployment Version. Only workers of this version get the tasks of a run that is pinned to it. */
export interface PinnedVersion {
  deploymentName: string;
  buildId: string;
}

/** The version to which an execution is pinned, by its workflow or by an override; undefined without one. */
export function pinnedVersionOf(
  attributes: temporal.api.common.v1.ISearchAttributes | null | undefined,
): PinnedVersion | undefined {
  const fields = attributes?.indexedFields ?? {};
  if (textIn(fields['TemporalWorkflowVersioningBehavior']) !== 'Pinned') return undefined;
  const version = textIn(fields['TemporalWorkerDeploymentVersion']) ?? '';
  const at = version.indexOf(':');
  return at === -1 ? undefined : { deploymentName: version.slice(0, at), buildId: version.slice(at + 1) };
}

/** The text in a payload of a search attribute that the server itself writes, as JSON. */
function textIn(payload: temporal.api.common.v1.IPayload | undefined): string | undefined {
  const value = payload?.data == null ? undefined : parseJson(Buffer.from(payload.data).toString());
  return typeof value === 'string' ? value : undefined;
}

/** True if the poller is a worker of the version. */
export function isOfVersion(
  { deploymentOptions }: Pick<temporal.api.taskqueue.v1.IPollerInfo, 'deploymentOptions'>,
  { deploymentName, buildId }: PinnedVersion,
): boolean {
  return deploymentOptions?.deploymentName === deploymentName && deploymentOptions.buildId === buildId;
}

/**
 * The command that moves a run, or all runs that a visibility query finds, to the current version of their deployment.
 */
export function moveCommand({ namespace, address }: Session, ...runs: ['--workflow-id' | '--query', string]): string {
  const words = ['temporal', 'workflow', 'update-options', ...runs, '--versioning-override-behavior', 'auto_upgrade'];
  if (runs[0] === '--query') words.push('--yes');
  return [...words, '--namespace', namespace, '--address', address].map(quoteWord).join(' ');
}
