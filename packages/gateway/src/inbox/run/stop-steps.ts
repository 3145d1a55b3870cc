import type { Receipt } from 'countersign/client';
import type { InboxRow } from '../../http/inbox/api.ts';

export type StoppedRequest = Pick<
  InboxRow,
  'workflowId' | 'requestId' | 'digest' | 'toolName' | 'sentence' | 'waitsFor'
>;

export interface StopChoice {
  denies: boolean;
  /** True: later calls of the same tools in these runs are denied, too. It has no effect unless `denies` is true. */
  deniesLater: boolean;
  run: 'goes_on' | 'close' | 'cancel';
  reason: string;
  id: string;
}

export interface StopStep {
  kind: 'deny' | 'deny_later' | 'stop_run';
  path: string;
  body: object;
  /** The idempotency key, so that a retry counts once. */
  key: string;
  /** The name of the tool for `deny_later`; the workflow id for `stop_run`. */
  about: string;
}

/**
 * The messages for a choice, in the order of sending. Plain denials come first, because `deny_later` settles all open
 * requests of its tool, so a later denial would be refused. The end of a run comes last, because it settles everything.
 */
export function stopSteps(
  requests: readonly StoppedRequest[],
  { denies, deniesLater, run, reason, id }: StopChoice,
): StopStep[] {
  const why = reason.trim() === '' ? {} : { reason: reason.trim() };
  const deniable = denies ? requests.filter(({ waitsFor }) => waitsFor !== 'others') : [];
  // For each tool of a run, the denial of one request is enough to deny later calls.
  const byTool = new Map(deniable.map((each) => [JSON.stringify([each.workflowId, each.toolName]), each]));
  const forLater = deniesLater ? [...byTool.values()] : [];
  const deniedOnce = deniable.filter((each) => !forLater.includes(each));
  const viewed = { channel: 'inbox' };
  const steps: Omit<StopStep, 'key'>[] = [];
  if (deniedOnce.length > 0) {
    const batch = deniedOnce.map(({ requestId, workflowId, digest }) => ({ requestId, workflowId, digest }));
    steps.push({
      kind: 'deny',
      path: '/approvals/decide',
      body: { requests: batch, approved: false, ...why, viewed },
      about: '',
    });
  }
  for (const { requestId, workflowId, digest, toolName } of forLater) {
    steps.push({
      kind: 'deny_later',
      path: `/approve/${requestId}?workflowId=${encodeURIComponent(workflowId)}`,
      body: { approved: false, always: { kind: 'tool' }, digest, ...why, viewed },
      about: toolName,
    });
  }
  if (run !== 'goes_on') {
    for (const workflowId of new Set(requests.map((each) => each.workflowId))) {
      steps.push({
        kind: 'stop_run',
        path: `/runs/${encodeURIComponent(workflowId)}/${run}`,
        body: why,
        about: workflowId,
      });
    }
  }
  return steps.map((step, index) => ({ ...step, key: `${id}-${index}` }));
}

export interface StopResult {
  isGood: boolean;
  text: string;
}

/** The result of a step by its receipts. The text of a refusal is untrusted. */
export function stopResult({ kind, about }: StopStep, receipts: readonly Receipt[]): StopResult {
  const refused = receipts.filter(({ accepted }) => !accepted);
  switch (kind) {
    case 'deny': {
      const recorded = receipts.some((each) => each.recorded === true);
      const denied = receipts.length - refused.length;
      const refusals = refused[0] === undefined ? '' : ` Not denied: ${refused.length} (${refused[0].message}).`;
      const how = recorded ? ' Recorded: the next worker applies it.' : '';
      return { isGood: refused.length === 0, text: `${denied} denied.${how}${refusals}` };
    }
    case 'deny_later': {
      const [{ accepted, recorded, grantId, message, votes }] = receipts as [Receipt];
      if (!accepted) return { isGood: false, text: `Not denied: ${message}.` };
      if (recorded === true)
        return { isGood: true, text: `Denied with later calls of ${about}: the next worker applies it.` };
      if (grantId === undefined) {
        const why = votes === undefined ? message : `${votes.have} of ${votes.need} votes`;
        return { isGood: false, text: `Your denial counts. Later calls of ${about} are not denied: ${why}.` };
      }
      // The receipt says `narrowed` if the rule admits only the same call again.
      return message.includes('narrowed')
        ? {
            isGood: false,
            text: `Denied. Of later calls of ${about}, only this very call is denied: its rule admits no more.`,
          }
        : { isGood: true, text: `Denied. Later calls of ${about} in this run are denied too (${grantId}).` };
    }
    case 'stop_run': {
      const [{ accepted, recorded, message }] = receipts as [Receipt];
      const text = recorded === true ? 'Stop recorded: the next worker applies it.' : message;
      return { isGood: accepted, text };
    }
  }
}
