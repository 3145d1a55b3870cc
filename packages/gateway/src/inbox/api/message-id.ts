/** A new id for a decision or another message. A retry has the id of the first attempt, so the message counts once. */
export function newMessageId(): string {
  // `crypto.randomUUID` exists only on https and on loopback.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `inbox-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
