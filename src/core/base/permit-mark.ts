/**
 * The mark of a permit that stands before an activity's own arguments. It is no part of the JSON, where a model could
 * write it too: a symbol here, an entry of the payload's metadata on the way. The symbol of a permit that was received
 * is another one: a starter may mark an argument of a workflow, and the workflow must not hand on the mark.
 */
const permitMark = Symbol.for('countersign.permit');
const receivedMark = Symbol.for('countersign.permit.received');

const metadataKey = 'countersign';

/** What the payload of a marked permit has besides. */
export const permitMetadata: Readonly<Record<string, Uint8Array>> = {
  [metadataKey]: new TextEncoder().encode('permit'),
};

/** True for the metadata of such a payload. */
export function saysPermit(metadata: Readonly<Record<string, Uint8Array>> | null | undefined): boolean {
  const [said, written] = [metadata?.[metadataKey], permitMetadata[metadataKey]!];
  return said != null && said.length === written.length && written.every((byte, index) => said[index] === byte);
}

export function markPermit<Permit extends object>(permit: Permit): Permit {
  return Object.defineProperty(permit, permitMark, { value: true });
}

/** True for a permit of the gate, which is about to be written. */
export function isMarkedPermit(value: unknown): value is object {
  return typeof value === 'object' && value !== null && permitMark in value;
}

/** Marks what came in a payload that says that it is a permit. */
export function markReceived<Permit extends object>(permit: Permit): Permit {
  return Object.defineProperty(permit, receivedMark, { value: true });
}

export function isReceivedPermit(value: unknown): value is object {
  return typeof value === 'object' && value !== null && receivedMark in value;
}
