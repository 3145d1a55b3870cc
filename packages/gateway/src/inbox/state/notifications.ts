import type { InboxRow } from '../../http/inbox/api.ts';
import { announceText, createStore } from './store.ts';
import { hrefOf, requestHref, navigate } from './location.ts';
import { notificationsOf } from './texts.ts';
import { openRequests } from './open-requests.ts';
import { requestKey } from './paths.ts';

/** Whether the browser lets this page show notifications. `unsupported`: it cannot, or not at this address. */
export const notificationState = createStore<NotificationPermission | 'unsupported'>(
  'Notification' in globalThis ? Notification.permission : 'unsupported',
);

/** A notification that is shown at once, so that users see how this browser shows notifications. */
const firstNotification = {
  title: 'Notifications are on',
  body: 'You are notified of new requests while the inbox is open in a tab.',
  tag: 'countersign-on',
  href: hrefOf('/'),
};

/** Asks the user to permit notifications. Call this only after a click, because browsers ignore it otherwise. */
export async function askForNotifications(): Promise<void> {
  if (notificationState.get() === 'unsupported') {
    announceText('This browser cannot notify you.', 'bad');
    return;
  }
  const answer = await Notification.requestPermission();
  if (answer === 'granted' && (await showNotification(firstNotification)) === undefined) {
    notificationState.set('unsupported');
    announceText('This browser cannot notify you: it shows no notifications of pages.', 'bad');
    return;
  }
  notificationState.set(answer);
  const texts = {
    granted: 'You are notified of new requests while the inbox is open in a tab.',
    denied: 'This browser does not let the inbox notify you. Its settings for this address can change that.',
    default: 'Nothing was changed.',
  } as const;
  announceText(texts[answer], answer === 'granted' ? 'good' : 'plain');
}

/** Requests that arrive within this time, in milliseconds, are notified together. */
const gatherMs = 1_000;

/** Shows notifications of new requests while the page lacks the focus. Returns a function that stops this. */
export function notifyOfRequests(): () => void {
  let known: Set<string> | undefined;
  let gathered: InboxRow[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** The functions that close the shown notifications, by tag. */
  const shown = new Map<string, () => void>();
  const showGathered = (): void => {
    timer = undefined;
    const rows = gathered;
    gathered = [];
    if (document.hasFocus() || notificationState.get() !== 'granted') return;
    for (const { row, ...texts } of notificationsOf(rows)) {
      const href = row === undefined ? hrefOf('/') : requestHref(row);
      void showNotification({ ...texts, href }).then((close) => {
        if (close !== undefined) shown.set(texts.tag, close);
      });
    }
  };
  const update = (): void => {
    const { open } = openRequests.get();
    if (open === undefined) return;
    const now = new Set(open.rows.map(requestKey));
    // `known` is undefined at first: requests that were open before the page are not new.
    if (known !== undefined) {
      const before = known;
      gathered.push(...open.rows.filter((row) => !before.has(requestKey(row))));
      if (gathered.length > 0) timer ??= setTimeout(showGathered, gatherMs);
    }
    known = now;
    for (const [tag, close] of shown) {
      const isOpen = open.rows.some(({ requestId }) => tag === `countersign-${requestId}`);
      // A notification about several requests stays, because some of them may still be open.
      if (isOpen || tag === 'countersign-many') continue;
      close();
      shown.delete(tag);
    }
  };
  update();
  const stop = openRequests.subscribe(update);
  return () => {
    stop();
    clearTimeout(timer);
  };
}

interface PlainNotification {
  title: string;
  body: string;
  tag: string;
  href: string;
}

const icon = hrefOf('/icon-192.png');

/** Shows a notification, on most phones by the service worker. Returns a function that closes it, if it was shown. */
async function showNotification(notification: PlainNotification): Promise<(() => void) | undefined> {
  const { title, body, tag, href } = notification;
  try {
    const shown = new Notification(title, { body, tag, icon });
    shown.addEventListener('click', () => {
      window.focus();
      navigate(href);
      shown.close();
    });
    return () => shown.close();
  } catch {
    return showByWorker(notification);
  }
}

/** Does the same by the service worker; undefined if this browser has none, or the worker cannot show it. */
async function showByWorker({ title, body, tag, href }: PlainNotification): Promise<(() => void) | undefined> {
  if (!('serviceWorker' in navigator)) return undefined;
  try {
    const registration = await registerWorker();
    await registration.showNotification(title, { body, tag, icon, data: { url: new URL(href, location.origin).href } });
    const close = async (): Promise<void> => {
      for (const each of await registration.getNotifications({ tag })) each.close();
    };
    return () => void close();
  } catch {
    return undefined;
  }
}

/** Registers `service-worker.ts`, which shows notifications, and waits until it is active. */
export async function registerWorker(): Promise<ServiceWorkerRegistration> {
  await navigator.serviceWorker.register(hrefOf('/service-worker.js'), { scope: hrefOf('/') });
  return navigator.serviceWorker.ready;
}
