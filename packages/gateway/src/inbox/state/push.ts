import type { Me } from '../../http/inbox/api.ts';
import { ApiProblem, sendJson } from '../api/fetch-json.ts';
import { announceText, createStore } from './store.ts';
import { hrefOf } from './location.ts';
import { askForNotifications, notificationState } from './notifications.ts';
import { isSamePushKey } from './same-push-key.ts';
import { registerWorker } from './show-notification.ts';

/**
 * Whether this browser is told of requests while no inbox is open in it. `unavailable`: the gateway does not offer it, or
 * the browser cannot.
 */
export const pushState = createStore<'unavailable' | 'off' | 'on' | 'changing'>('unavailable');

const storageKey = 'countersign.push';
/** A subscription is good for 30 days from the last time that the gateway heard of it. */
const renewMs = 24 * 3_600_000;

/** A browser that does not reach its push service, as in a closed network, may wait for it forever. */
const longestMs = 15_000;

/** Whose subscription this browser has, and when the gateway heard of it. */
interface Subscribed {
  id: string;
  atMs: number;
}

/**
 * Finds out whether this browser is subscribed for this person, and renews the subscription. It undoes
 * a subscription of somebody else, one that was made with other keys, and one to a gateway that no longer offers push.
 */
export async function loadPush({ id, pushKey }: Pick<Me, 'id' | 'pushKey'>): Promise<void> {
  if (!canPush()) return;
  const registration = await registrationOf();
  const subscription = await registration?.pushManager.getSubscription();
  // If the person has pressed the switch meanwhile, their choice stands.
  if (pushState.get() === 'changing') return;
  const kept = read();
  const isOwn =
    subscription &&
    pushKey !== undefined &&
    kept?.id === id &&
    isSamePushKey(subscription.options.applicationServerKey, pushKey);
  if (pushKey === undefined || (subscription && !isOwn)) {
    pushState.set('changing');
    await forget().catch(() => undefined);
  }
  if (pushKey === undefined) return pushState.set('unavailable');
  const isOn = isOwn && notificationState.get() === 'granted';
  pushState.set(isOn ? 'on' : 'off');
  if (!isOn || Date.now() - kept.atMs < renewMs) return;
  // If this fails, the next visit renews the subscription.
  await send(subscription, id).catch(() => undefined);
}

/** Subscribes this browser, or undoes that. Called only when somebody has pressed a button for it. */
export async function switchPush(on: boolean, { id, pushKey }: Pick<Me, 'id' | 'pushKey'>): Promise<void> {
  if (pushState.get() === 'unavailable' || pushState.get() === 'changing' || pushKey === undefined) return;
  const before = pushState.get();
  pushState.set('changing');
  try {
    if (on && notificationState.get() !== 'granted') await askForNotifications();
    if (on && notificationState.get() !== 'granted') return pushState.set('off');
    await (on ? subscribe(pushKey, id) : unsubscribe());
    pushState.set(on ? 'on' : 'off');
    announceText(
      on
        ? 'This browser tells you of requests also while the inbox is closed.'
        : 'This browser tells you of requests only while the inbox is open.',
      'good',
    );
  } catch (error) {
    if (on) await forget().catch(() => undefined);
    pushState.set(on ? 'off' : before);
    const why =
      error instanceof ApiProblem
        ? error.message
        : "the browser's push service cannot be reached, or refused. Try again later.";
    announceText(`Notifications were not changed: ${why}`, 'bad');
  }
}

/** Ends the subscription of this browser, so that the next person at it gets no messages of this one. */
export async function endPush(): Promise<void> {
  if (!canPush()) return;
  const subscription = await (await registrationOf())?.pushManager.getSubscription();
  // Neither waits for the other: the gateway or the push service may be away.
  await Promise.allSettled([subscription && sendEnd(subscription), forget()]);
  if (pushState.get() !== 'unavailable') pushState.set('off');
}

function canPush(): boolean {
  return 'serviceWorker' in navigator && 'PushManager' in globalThis && 'Notification' in globalThis;
}

async function registrationOf(): Promise<ServiceWorkerRegistration | undefined> {
  return navigator.serviceWorker.getRegistration(hrefOf('/'));
}

async function subscribe(pushKey: string, id: string): Promise<void> {
  const { promise: tooLong, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('the push service does not answer')), longestMs);
  await send(await Promise.race([makeSubscription(pushKey), tooLong]).finally(() => clearTimeout(timer)), id);
}

async function makeSubscription(pushKey: string): Promise<PushSubscription> {
  const { pushManager } = await registerWorker();
  // One that was made with other keys takes no message of this gateway.
  const earlier = await pushManager.getSubscription();
  await earlier?.unsubscribe();
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: pushKey });
}

async function send(subscription: PushSubscription, id: string): Promise<void> {
  const { endpoint, keys } = subscription.toJSON();
  await sendJson('POST', '/push/subscribe', { endpoint, keys: { p256dh: keys?.['p256dh'], auth: keys?.['auth'] } });
  write({ id, atMs: Date.now() });
}

async function unsubscribe(): Promise<void> {
  const subscription = await (await registrationOf())?.pushManager.getSubscription();
  if (subscription) await sendEnd(subscription);
  await forget();
}

async function sendEnd({ endpoint }: PushSubscription): Promise<void> {
  await sendJson('POST', '/push/unsubscribe', { endpoint });
}

/** Unsubscribes without telling the gateway, which learns of it when the push service refuses its next message. */
async function forget(): Promise<void> {
  const registration = await registrationOf();
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
  await registration?.unregister();
  write(undefined);
}

function read(): Subscribed | undefined {
  try {
    return (JSON.parse(localStorage.getItem(storageKey) ?? 'null') as Subscribed | null) ?? undefined;
  } catch {
    return undefined;
  }
}

function write(subscribed: Subscribed | undefined): void {
  try {
    if (subscribed === undefined) localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, JSON.stringify(subscribed));
  } catch {
    // A browser that stores nothing subscribes again at the next visit.
  }
}
