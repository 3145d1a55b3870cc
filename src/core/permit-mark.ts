/**
 * The mark of a permit that stands before an activity's own arguments. It is no part of the JSON, where a model could
 * write it too: a symbol here, an entry of the payload's metadata on the way.
 */
const permitMark = Symbol.for('countersign.permit');

/** The metadata entry, and what it says. */
export const permitMetadata = { key: 'countersign', value: 'permit' } as const;

export function markPermit<Permit extends object>(permit: Permit): Permit {
  return Object.defineProperty(permit, permitMark, { value: true });
}

export function isMarkedPermit(value: unknown): value is object {
  return typeof value === 'object' && value !== null && permitMark in value;
}
