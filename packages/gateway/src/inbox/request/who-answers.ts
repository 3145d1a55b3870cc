import { personsShown } from 'countersign/base';
import type { ApprovalDetails } from 'countersign/client';

type Asked = Pick<ApprovalDetails, 'approvers' | 'reviewers' | 'people'>;

const mostNames = 5;

/** Names who can answer now: people, such as `Bob Lee (bob) or dora (finance)`, else groups; undefined if not known. */
export function whoCanAnswer({ approvers, reviewers, people }: Asked): string | undefined {
  const groups = reviewers.flatMap((name) => (name.startsWith(groupPrefix) ? [name.slice(groupPrefix.length)] : []));
  if (approvers === undefined) {
    return groups.length === 0 ? undefined : `group ${eitherOf(groups)}`;
  }
  if (approvers.length === 0) return undefined;
  const names = eitherOf(approvers.map((id) => personsShown(people)(id)));
  return groups.length === 0 ? names : `${names} (${eitherOf(groups)})`;
}

const groupPrefix = 'group:';

/** The state of the votes, such as `1 of 2 approvals · still needed: Bob or Dora`; undefined if one is enough. */
export function approvalsText({ approvals, ...asked }: Asked & Pick<ApprovalDetails, 'approvals'>): string | undefined {
  if (approvals === undefined || approvals.need < 2) return undefined;
  const who = whoCanAnswer(asked);
  return `${approvals.have} of ${approvals.need} approvals${who === undefined ? '' : ` · still needed: ${who}`}`;
}

function eitherOf(names: readonly string[]): string {
  const shown = names.length > mostNames + 1 ? names.slice(0, mostNames) : names;
  const rest = names.length - shown.length;
  const all = rest === 0 ? shown : [...shown, `${rest} more`];
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} or ${all.at(-1)!}`;
}
