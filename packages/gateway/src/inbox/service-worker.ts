/**
 * The service worker shows the messages of web push (docs/web-push.md). It also shows notifications of an open inbox in
 * browsers whose pages cannot show notifications. It handles no HTTP requests and stores nothing.
 */

/** A message of the channel for web push, which src/adapters/web-push/push-message.ts makes. */
interface PushMessage {
  title: string;
  body: string;
  tag: string;
  url: string;
  key: string;
  until?: string;
  silent?: boolean;
}

/** The part of a service worker's global scope that this file uses. TypeScript's types for pages lack it. */
interface PushScope {
  readonly registration: ServiceWorkerRegistration;
  readonly location: { readonly origin: string };
  readonly clients: {
    matchAll(options: { type: 'window'; includeUncontrolled: boolean }): Promise<OpenPage[]>;
    openWindow(url: string): Promise<unknown>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install', listener: (event: LastingEvent) => void): void;
  addEventListener(type: 'push', listener: (event: LastingEvent & { data: { text(): string } | null }) => void): void;
  addEventListener(
    type: 'notificationclick',
    listener: (event: LastingEvent & { notification: Notification }) => void,
  ): void;
}
interface LastingEvent {
  waitUntil(work: Promise<unknown>): void;
}
interface OpenPage {
  readonly url: string;
  focus(): Promise<unknown>;
}

const scope = self as unknown as PushScope;
const { registration, clients } = scope;
const icon = '/inbox/icon-192.png';

scope.addEventListener('install', (event) => event.waitUntil(scope.skipWaiting()));

scope.addEventListener('push', (event) => event.waitUntil(show(parseMessage(event.data?.text() ?? ''))));

scope.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const { url } = (event.notification.data ?? {}) as { url?: unknown };
  event.waitUntil(open(inboxAddress(url)));
});

/** Shows a message. If the same message is shown already, it replaces the shown one without a second sound. */
async function show({ title, body: what, tag, url, key, until, silent = false }: PushMessage): Promise<void> {
  const [before] = await registration.getNotifications({ tag });
  const isRepeated = (before?.data as { key?: unknown } | undefined)?.key === key;
  const body = until === undefined ? what : `${what} · ${untilText(until)}`;
  const options = { body, tag, icon, silent, renotify: !silent && !isRepeated, data: { url: inboxAddress(url), key } };
  await registration.showNotification(title, options);
}

/** The deadline in local time. It has a date, because people may read a notification on another day. */
function untilText(until: string): string {
  const at = new Date(until);
  if (Number.isNaN(at.getTime())) return 'until an unknown time';
  return `until ${at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}`;
}

async function open(address: string): Promise<void> {
  const pages = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  const there = pages.find((page) => page.url === address);
  await (there === undefined ? clients.openWindow(address) : there.focus());
}

/** Returns an address of this inbox unchanged; for any other address, the address of its list. */
function inboxAddress(url: unknown): string {
  const list = new URL('/inbox/', scope.location.origin).href;
  return typeof url === 'string' && URL.canParse(url) && new URL(url).href.startsWith(list) ? new URL(url).href : list;
}

/** Reads a message. For an unreadable one, returns a general text, because browsers demand a notification for each. */
function parseMessage(text: string): PushMessage {
  const unreadable = {
    title: 'A call waits for a decision',
    body: 'Open the inbox.',
    tag: 'countersign',
    url: '',
    key: '',
  };
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === 'object' && message !== null ? { ...unreadable, ...message } : unreadable;
  } catch {
    return unreadable;
  }
}
