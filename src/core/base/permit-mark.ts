/**
 * The mark of a permit, which precedes an activity's own arguments. It is not part of the JSON, where a model could
 * write it: in memory it is a symbol, in a payload an entry of the metadata. A received permit carries another symbol:
 * a starter may mark an argument of a workflow, and the workflow must not pass that mark on.
 */
const permitMark = Symbol.for('countersign.permit');
const receivedMark = Symbol.for('countersign.permit.received');

const metadataKey = 'countersign';

/** Additional metadata of a marked permit's payload. */
export const permitMetadata: Readonly<Record<string, Uint8Array>> = {
  [metadataKey]: new TextEncoder().encode('permit'),
};

/** True if the metadata marks the payload as a permit. */
export function saysPermit(metadata: Readonly<Record<string, Uint8Array>> | null | undefined): boolean {
  const [said, written] = [metadata?.[metadataKey], permitMetadata[metadataKey]!];
  return said != null && said.length === written.length && written.every((byte, index) => said[index] === byte);
}

export function markPermit<Permit extends object>(permit: Permit): Permit {
  return Object.defineProperty(permit, permitMark, { value: true });
}

/** True for a permit that this process's gate made and that is about to be written. */
export function isMarkedPermit(value: unknown): value is object {
  return typeof value === 'object' && value !== null && permitMark in value;
}

/** Marks a value whose payload claims to be a permit. */
export function markReceived<Permit extends object>(permit: Permit): Permit {
  return Object.defineProperty(permit, receivedMark, { value: true });
}

export function isReceivedPermit(value: unknown): value is object {
  return typeof value === 'object' && value !== null && receivedMark in value;
}
