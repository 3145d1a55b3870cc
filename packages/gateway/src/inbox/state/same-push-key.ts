/** True if a browser has subscribed with this key of the gateway: it does not receive messages with another one. */
export function isSamePushKey(used: ArrayBuffer | null, pushKey: string): boolean {
  const key = atob(pushKey.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = new Uint8Array(used ?? new ArrayBuffer());
  return bytes.length === key.length && bytes.every((byte, at) => byte === key.charCodeAt(at));
}
