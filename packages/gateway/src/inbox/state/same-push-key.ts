/** True if the subscription's key is the gateway's key. With another key, it refuses the messages of the gateway. */
export function isSamePushKey(used: ArrayBuffer | null, pushKey: string): boolean {
  const key = atob(pushKey.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = new Uint8Array(used ?? new ArrayBuffer());
  return bytes.length === key.length && bytes.every((byte, at) => byte === key.charCodeAt(at));
}
