import type { Me } from '../../http/inbox/api.ts';
import { ApiProblem, sendJson } from '../api/fetch-json.ts';
import { announceText, createStore } from './store.ts';
import { hrefOf } from './location.ts';
import { askForNotifications, notificationState, registerWorker } from './notifications.ts';
import { isSamePushKey } from './same-push-key.ts';

/** The state of web push in this browser. `unavailable`: the gateway or the browser does not support it. */
export const pushState = createStore<'unavailable' | 'off' | 'on' | 'changing'>('unavailable');

const storageKey = 'countersign.push';
/** A visit renews a subscription that is older than this. The gateway removes a subscription after 30 days. */
const renewMs = 24 * 3_600_000;

/** How long to wait for the browser's push service. In a closed network, the browser might wait forever. */
const longestMs = 15_000;

interface Subscribed {
  id: string;
  atMs: number;
}

/**
 * Checks whether this browser is subscribed for this person, and renews an old subscription. Removes a subscription of
 * another person or with another key, and any subscription if the gateway no longer offers web push.
 */
export async function loadPush({ id, pushKey }: Pick<Me, 'id' | 'pushKey'>): Promise<void> {
  if (!canPush()) return;
  const registration = await registrationOf();
  const subscription = await registration?.pushManager.getSubscription();
  // If the user has pressed the switch meanwhile, the state is `changing`, and their choice counts.
  if (pushState.get() === 'changing') return;
  const kept = readSubscribed();
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

/** Turns web push on or off. Call it only after a click, because browsers ask for the permission only then. */
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
        ? 'This browser notifies you of new requests also while the inbox is closed.'
        : 'This browser notifies you of new requests only while the inbox is open.',
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

/** Ends the subscription of this browser, so that the next user gets no messages for the present user. */
export async function endPush(): Promise<void> {
  if (!canPush()) return;
  const subscription = await (await registrationOf())?.pushManager.getSubscription();
  // Both run at the same time, because the gateway or the push service may not answer.
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
  // An earlier subscription may have another key. Then it would refuse the messages of this gateway.
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

/** Unsubscribes in the browser only. The gateway notices when the push service refuses its next message. */
async function forget(): Promise<void> {
  const registration = await registrationOf();
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
  await registration?.unregister();
  write(undefined);
}

function readSubscribed(): Subscribed | undefined {
  try {
    return (JSON.parse(localStorage.getItem(storageKey) ?? 'null') as Subscribed | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps in the browser, for the next visit, which person has subscribed and when. Undefined: removes that. */
function write(subscribed: Subscribed | undefined): void {
  try {
    if (subscribed === undefined) localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, JSON.stringify(subscribed));
  } catch {
    // A browser without storage subscribes again at the next visit.
  }
}
