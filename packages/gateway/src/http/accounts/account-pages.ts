import type { ChatAccount } from 'countersign/channels';
import { visibleText } from 'countersign/base';
import { escapeHtml } from 'countersign/card';
import { htmlResponse } from '../responses/html-response.ts';
import type { Principal } from '../identity/principal.ts';
import { linkDays } from './linked-accounts.ts';

/** Asks the signed-in person whether a Slack account is theirs. Showing the page links nothing. */
export function confirmPage(account: ChatAccount, person: Principal, invitation: string, before?: Principal): Response {
  const earlier =
    before === undefined || before.id === person.id ? '' : `<p>So far it answers as ${isolatedHtml(before.id)}.</p>\n`;
  const body = `<main class="card"><h1>Answer requests in Slack?</h1>
<p>You are signed in as ${isolatedHtml(person.id)}. From now on, for ${linkDays} days, what the Slack account
${accountText(account)} answers counts as your answer.</p>
${earlier}<p role="alert">Confirm this only if that account is yours and you have just pressed a button in Slack. Otherwise the sender of this
address wants to answer in your name.</p>
<form method="post" action="/slack/link">
<input type="hidden" name="state" value="${escapeHtml(invitation)}">
<div class="answers"><button>This account is mine</button></div>
</form></main>`;
  return htmlResponse('Answer requests in Slack?', body);
}

/** Confirms that an account is linked. */
export function linkedPage(account: ChatAccount, person: Principal): Response {
  const body = `<main class="card"><h1>The account is linked</h1>
<p role="status">${accountText(account)} now answers as ${isolatedHtml(person.id)}. Go back to Slack and press the button again.</p>
<p><a href="/slack/link">Your Slack accounts</a></p></main>`;
  return htmlResponse('The account is linked', body);
}

/** The accounts of a person, each with a button that unlinks it. */
export function accountsPage(accounts: readonly ChatAccount[], person: Principal): Response {
  const rows = accounts.map(
    (account) => `<form method="post" action="/slack/unlink">
<input type="hidden" name="team" value="${escapeHtml(account.team)}"><input type="hidden" name="user" value="${escapeHtml(account.user)}">
<p>${accountText(account)}</p><div class="answers"><button>Unlink</button></div></form>`,
  );
  const none = '<p>None. To link yours, press a button of a request in Slack.</p>';
  const body = `<main class="card"><h1>Slack accounts of ${isolatedHtml(person.id)}</h1>
${rows.length === 0 ? none : rows.join('\n')}</main>`;
  return htmlResponse('Your Slack accounts', body);
}

/** Confirms that an account is no longer linked, or reports that it never was. */
export function unlinkedPage(wasLinked: boolean): Response {
  const heading = wasLinked ? 'The account is unlinked' : 'Nothing was linked';
  const sentence = wasLinked
    ? 'Its answers in Slack no longer count.'
    : 'This Slack account does not answer in your name.';
  const body = `<main class="card"><h1>${heading}</h1><p role="status">${sentence}</p>
<p><a href="/slack/link">Your Slack accounts</a></p></main>`;
  return htmlResponse(heading, body, wasLinked ? 200 : 404);
}

function accountText({ team, user, name }: ChatAccount): string {
  return `${isolatedHtml(`@${name}`)} (user ${isolatedHtml(user)} of workspace ${isolatedHtml(team)})`;
}

function isolatedHtml(text: string): string {
  return `<bdi>${escapeHtml(visibleText(text))}</bdi>`;
}
