import { hrefOf, navigate } from './location.ts';

/** A notification of the browser, and the view that it leads to. */
export interface PlainNotification {
  title: string;
  body: string;
  /** A notification replaces an earlier one with the same tag, also of another tab. */
  tag: string;
  /** An address of `hrefOf`. */
  href: string;
}

const icon = hrefOf('/icon-192.png');

/**
 * Shows a notification; requires the permission. Returns a function that closes it, or undefined if this browser cannot
 * show one. Nearly all phones let only a service worker show it.
 */
export async function showNotification(notification: PlainNotification): Promise<(() => void) | undefined> {
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

/** Registers the service worker, which shows notifications and handles no request of a page. */
export async function registerWorker(): Promise<ServiceWorkerRegistration> {
  await navigator.serviceWorker.register(hrefOf('/service-worker.js'), { scope: hrefOf('/') });
  return navigator.serviceWorker.ready;
}
