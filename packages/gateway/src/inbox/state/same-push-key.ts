/** True if a subscription was made with this key of the gateway. Otherwise it receives no messages of the gateway. */
export function isSamePushKey(used: ArrayBuffer | null, pushKey: string): boolean {
  const key = atob(pushKey.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = new Uint8Array(used ?? new ArrayBuffer());
  return bytes.length === key.length && bytes.every((byte, at) => byte === key.charCodeAt(at));
}
