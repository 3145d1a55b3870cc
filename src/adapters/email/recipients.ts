import type { ChannelRequest, ChannelStep } from '../../channels/channel.ts';
import { policyInvalid } from '../../channels/channel-kind.ts';
import { type Directory, isAmong, isOneOf, personKeyIn } from '../../core/people/directory.ts';

/** How to mail a reviewer. */
export interface MailedPerson {
  address: string;
  /** The reviewer's groups, without the prefix `group:`. Default: none. */
  groups?: readonly string[];
  /** The IANA time zone in which mails to the person show instants. Default: UTC. */
  timeZone?: string;
}

/** A recipient of mail. Without `reviewer`, it is an address that several people read. */
export interface Recipient {
  address: string;
  reviewer?: string;
  timeZone?: string;
}

const mostMails = 50;

/** Returns who gets the mail for a step. Throws `policy_invalid` if there is no recipient, or more than `mostMails`. */
export function recipientsOf(
  request: ChannelRequest,
  step: ChannelStep,
  people: ReadonlyMap<string, MailedPerson>,
  shared: readonly string[],
): Recipient[] {
  const { reviewers, delegations = [], votes = [], approvers } = request;
  const names = step.kind === 'escalated' ? (step.to ?? []) : [...reviewers, ...delegations.map(({ to }) => to)];
  const directory = directoryOf(people);
  const keyOf = personKeyIn(request);
  const isApprover = approvers && isAmong(undefined, approvers, keyOf);
  // `approvers` resolves groups by the policy's directory, but lacks the reviewers that an escalation adds.
  const isMember = (name: string): boolean => step.kind !== 'escalated' && isApprover?.(keyOf(name)) === true;
  // If no reviewer is named, all people of the channel are asked.
  const isAsked = (name: string): boolean =>
    names.length === 0 || isMember(name) || isOneOf(directory, name, names, keyOf);
  const asked = [...people].filter(([name]) => isAsked(name));
  // A person whose approval would not count, such as the run's caller, is not asked.
  const counts = (name: string): boolean => isApprover?.(keyOf(name)) ?? true;
  const isRepeated = step.kind === 'reminded' || step.kind === 'warned';
  const voted = new Set(votes.flatMap(({ reviewerId }) => (reviewerId === undefined ? [] : [keyOf(reviewerId)])));
  const waitedFor = asked.filter(([name]) => counts(name) && !(isRepeated && voted.has(keyOf(name))));
  // A reminder may have no recipient, because all who were asked may have voted. Any other mail must have one.
  if ((isRepeated ? asked : waitedFor).length + shared.length === 0) throw noRecipient(names, asked.length > 0);
  const all = [
    ...waitedFor.map(([reviewer, person]) => recipientOf(reviewer, person)),
    ...shared.map((address) => ({ address })),
  ];
  if (all.length <= mostMails) return all;
  throw policyInvalid(
    `No mail was sent: ${all.length} people would get it, and ${mostMails} may. Name fewer reviewers.`,
  );
}

function noRecipient(names: readonly string[], isAnyAsked: boolean): ReturnType<typeof policyInvalid> {
  return policyInvalid(
    isAnyAsked
      ? 'No mail was sent: the channel has no address of a reviewer whose approval would count.'
      : `No mail was sent: the channel has no address for ${names.join(', ')}. Name one in its 'people'.`,
  );
}

export function recipientOf(reviewer: string, { address, timeZone }: MailedPerson): Recipient {
  return { reviewer, address, ...(timeZone !== undefined && { timeZone }) };
}

function directoryOf(people: ReadonlyMap<string, MailedPerson>): Directory {
  const entries = [...people].map(([name, { groups = [] }]) => [name, { groups, keys: [] }] as const);
  return { people: Object.fromEntries(entries) };
}
