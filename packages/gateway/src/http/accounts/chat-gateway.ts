import type { ChatApp, ChatGateway, ChatAccount } from 'countersign/channels';
import { requireGated, getRecord, listRecords, putRecord, removeRecord } from 'countersign/adapter';
import { ProblemError, type JsonObject } from 'countersign/base';
import type { Decision, Session } from 'countersign/client';
import type { GatewayContext } from '../gateway-context.ts';
import type { IdentityService } from '../identity/identity-service.ts';
import { idempotencyKeyOf } from '../shapes/input-shapes.ts';
import { isPermitted, permissions, type Principal } from '../identity/principal.ts';
import { decideAs } from '../send-as.ts';
import type { Credential } from '../identity/sessions.ts';

export interface Chat {
  app: ChatApp;
  accounts: LinkedAccounts;
  chat: ChatGateway;
  identity: IdentityService;
}

/** The functions that a chat app calls, with which a chat user answers as the person who linked the account. */
function chatGateway(gateway: GatewayContext, accounts: LinkedAccounts, linkPage: string): ChatGateway {
  const { client, log } = gateway;
  return {
    log,
    personOf: async (account) => {
      const person = await accounts.personOf(account);
      return (
        person && { id: person.id, decide: (workflowId, decision) => answerAs(gateway, person, workflowId, decision) }
      );
    },
    linkUrl: async (account) => `${linkPage}?state=${await accounts.invite(account)}`,
    request: async (workflowId, requestId) => {
      await requireGated(client.session, workflowId);
      return client.approvals.get(requestId, { workflowId });
    },
  };
}

/** Sends the run the decision that a person made in the chat. Throws `forbidden` unless they are a reviewer. */
async function answerAs(
  gateway: GatewayContext,
  person: Principal,
  workflowId: string,
  { decisionId, ...answer }: Omit<Decision, 'reviewerId'>,
) {
  if (!isPermitted(permissions['POST /approve/{requestId}'], person.roles)) {
    throw new ProblemError({ code: 'forbidden', message: `${person.id} does not have the role reviewer.` });
  }
  await requireGated(gateway.client.session, workflowId);
  // A chat sends no header `Idempotency-Key`, so only its `decisionId` makes a repeated answer count once.
  const decision = { ...answer, reviewerId: person.id, decisionId: idempotencyKeyOf(person, undefined, decisionId) };
  return decideAs(gateway, person, decision, workflowId);
}

/** The Slack app, with the accounts that people have linked; undefined if the gateway has no Slack app. */
export function slackChat(gateway: GatewayContext): Chat | undefined {
  const { slack: app, identity, site, client } = gateway;
  if (app === undefined || identity === undefined) return undefined;
  const accounts = linkedAccounts({ client, identity }, 'slack');
  return { app, accounts, identity, chat: chatGateway(gateway, accounts, `${site.publicUrl}/slack/link`) };
}

type LinkedAccounts = ReturnType<typeof linkedAccounts>;
type AccountKey = Pick<ChatAccount, 'team' | 'user'>;

const inviteMs = 10 * 60_000;
/** How long a linked account is valid. To link it again, the person signs in, which reads their present roles. */
export const linkDays = 30;

/**
 * Stores, as records in Temporal, which person has linked which account of a chat service. Everyone who can start
 * workflows can write a record. So the content is encrypted with the gateway's key, and names the account: `personOf`
 * ignores a forged record, and a record that was copied to another account.
 */
function linkedAccounts(
  { client, identity }: { client: { session: Session }; identity: Pick<IdentityService, 'seals' | 'sessions'> },
  service: string,
) {
  const { session } = client;
  const { seals, sessions } = identity;
  const nameOf = ({ team, user }: AccountKey) => ({ kind: `${service}-user`, owner: `${team}:${user}` });
  const kindOfList = `${service}-accounts`;

  /** Decrypts a record. Returns undefined if it is absent or forged, or the person's credential is no longer valid. */
  async function opened(
    record: JsonObject | undefined,
  ): Promise<{ account: ChatAccount; person: Principal } | undefined> {
    const sealed = record?.['sealed'];
    const content = typeof sealed === 'string' ? await seals.open('account', sealed) : undefined;
    const person = content?.['service'] === service ? sessions.holderOf(content) : undefined;
    return content && person && { account: content['account'] as ChatAccount, person };
  }

  /** Returns the person who linked an account, with the roles of their credential; undefined if no person did. */
  async function personOf(account: AccountKey): Promise<Principal | undefined> {
    const link = await opened(await getRecord(session, nameOf(account)));
    return link !== undefined && isSame(link.account, account) ? link.person : undefined;
  }

  return {
    personOf,
    /** Makes an invitation to link an account, for the address of the link page. It is valid for ten minutes. */
    invite: (account: ChatAccount): Promise<string> =>
      seals.seal('account-link', { service, account }, Date.now() + inviteMs),
    /** Returns the account in an invitation. Throws `forbidden` if the invitation is forged or has expired. */
    invited: async (text: string): Promise<ChatAccount> => {
      const content = await seals.open('account-link', text);
      if (content?.['service'] === service) return content['account'] as ChatAccount;
      const message =
        'This link is not valid here, or it has expired: press a button in the chat again for another one.';
      throw new ProblemError({ code: 'forbidden', message });
    },
    /** Links an account to the holder of a credential, in place of an earlier link. Throws if it is not valid now. */
    link: async ({ team, user, name }: ChatAccount, credential: Credential): Promise<void> => {
      const account = { team, user, name };
      const content = { service, account, ...credential };
      const person = sessions.holderOf(content);
      if (person === undefined) throw new ProblemError({ code: 'unauthenticated', message: 'Sign in again.' });
      const sealed = await seals.seal('account', content, Date.now() + linkDays * 24 * 3_600_000);
      // The person's list is written first, so that it has every account that answers as the person.
      await putRecord(session, { kind: kindOfList, owner: person.id, id: nameOf(account).owner }, { sealed });
      await putRecord(session, nameOf(account), { sealed });
    },
    /** The accounts of a person. An account that was just linked may be missing, because the list lags. */
    of: async (person: Principal): Promise<ChatAccount[]> => {
      const records = await listRecords(session, { kind: kindOfList, owner: person.id });
      const links = await Promise.all(records.map(({ value }) => opened(value)));
      const accounts = links.flatMap((link) => (link === undefined ? [] : [link.account]));
      // Another person may have linked one of these accounts later. Then the account answers as that person.
      const holders = await Promise.all(accounts.map(personOf));
      return accounts.filter((_, index) => holders[index]?.id === person.id);
    },
    /** Unlinks an account from a person. Resolves with false if the account is not linked to this person. */
    unlink: async (account: AccountKey, person: Principal): Promise<boolean> => {
      const holder = await personOf(account);
      if (holder?.id !== person.id) return false;
      // Removed in the opposite order, so that the list never lacks an account that answers as the person.
      await removeRecord(session, nameOf(account));
      await removeRecord(session, { kind: kindOfList, owner: person.id, id: nameOf(account).owner });
      return true;
    },
  };
}

function isSame(one: ChatAccount, other: AccountKey): boolean {
  return one.team === other.team && one.user === other.user;
}
