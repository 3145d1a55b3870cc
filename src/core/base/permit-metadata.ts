/**
 * A gated activity gets its permit in the metadata of its first argument's payload. So a worker that knows no permits
 * passes the author's arguments unchanged, a payload codec encodes the permit with the argument, and neither a model
 * nor a starter can write a permit: both write only JSON arguments.
 */
const metadataKey = 'countersign';

/** The first argument of an activity, and the permit of its call. */
export class Permitted {
  readonly value: unknown;
  readonly permit: object;

  constructor(value: unknown, permit: object) {
    this.value = value;
    this.permit = permit;
  }
}

type Metadata = Readonly<Record<string, Uint8Array>>;

export function permitMetadata(permit: object): Metadata {
  return { [metadataKey]: new TextEncoder().encode(JSON.stringify(permit)) };
}

/** True if the metadata claims to hold a permit, readable or not. */
export function claimsPermit(metadata: Metadata | null | undefined): boolean {
  return metadata?.[metadataKey] != null;
}

/** The permit in the metadata of a payload; undefined if the metadata has no permit, or one that cannot be read. */
export function permitIn(metadata: Metadata | null | undefined): object | undefined {
  const bytes = metadata?.[metadataKey];
  if (bytes == null) return undefined;
  try {
    const permit: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof permit === 'object' && permit !== null ? permit : undefined;
  } catch {
    return undefined;
  }
}
