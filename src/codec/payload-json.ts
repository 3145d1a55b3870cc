import type { Payload } from '@temporalio/common';

/** A payload as the protocol of codec servers writes it: metadata and data in Base64. */
export interface PayloadJson {
  metadata?: Record<string, string>;
  data?: string;
}

export function payloadToJson({ metadata, data }: Payload): PayloadJson {
  const entries = Object.entries(metadata ?? {});
  return {
    metadata: Object.fromEntries(entries.map(([name, bytes]) => [name, Buffer.from(bytes ?? []).toString('base64')])),
    ...(data != null && data.length > 0 && { data: Buffer.from(data).toString('base64') }),
  };
}

/** Undefined for what is not a payload. */
export function payloadFromJson(json: unknown): Payload | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  const { metadata = {}, data = '' } = json as PayloadJson;
  if (typeof metadata !== 'object' || metadata === null || typeof data !== 'string') return undefined;
  const entries = Object.entries(metadata);
  if (!entries.every(([, text]) => typeof text === 'string')) return undefined;
  return {
    metadata: Object.fromEntries(entries.map(([name, text]) => [name, Buffer.from(text, 'base64')])),
    data: Buffer.from(data, 'base64'),
  };
}
