/**
 * The payload converter of client, worker and sandbox. It reads what Temporal's default converter reads, but returns an
 * `Undecodable` where that throws: Temporal decodes a signal before its handler runs, and an error there would fail the
 * task for ever (I5a). Decoding is part of determinism: `test/workflows/replay/payload-converter.test.ts` pins it.
 */
import { type Payload, type PayloadConverter, ApplicationFailure } from '@temporalio/common';
import { decode, encode } from '@temporalio/common/lib/encoding.js';
import { jsonPlace, strictJsonProblem } from '../../core/base/json.ts';
import { Permitted, permitMetadata } from '../../core/base/permit-metadata.ts';
import {
  Undecodable,
  isUndecodable,
  keyIdName,
  maxDepth,
  nestsTooDeep,
  unreadEncoding,
} from '../../core/base/undecodable.ts';
import { plainPayloadConverter } from '../../codec/plain-payload-converter.ts';
import { isExcess, isStrict, maxSignalBytes } from './strict-payloads.ts';

class BrandingPayloadConverter implements PayloadConverter {
  /** Writes a value; a permit goes into the metadata. Throws only failures of Temporal, which do not block the task. */
  toPayload(value: unknown): Payload {
    if (isUndecodable(value)) throw unwritable('a value that could not be decoded cannot be sent on');
    try {
      if (!(value instanceof Permitted)) return plainPayloadConverter.toPayload(value);
      const payload = plainPayloadConverter.toPayload(value.value);
      return { ...payload, metadata: { ...payload.metadata, ...permitMetadata(value.permit) } };
    } catch (error) {
      // A plain error in workflow code would make the task retry for ever (I5d).
      throw unwritable(error instanceof Error ? error.message : String(error));
    }
  }

  /** Reads a value. Never throws: returns an `Undecodable` with the reason for one that is marked or malformed. */
  // oxlint-disable-next-line no-unnecessary-type-parameters -- the interface is Temporal's
  fromPayload<T>(payload: Payload): T {
    const data = payload.data ?? new Uint8Array();
    if (isUnread(payload)) {
      const key = payload.metadata?.[keyIdName];
      const why = notRead[decode(data)] ?? notRead['elsewhere']!;
      const named = key == null ? why : why.replace('encoded', `encoded with key '${decode(key)}'`);
      return new Undecodable(0, named, { unread: true }) as T;
    }
    if (isExcess(payload)) {
      const why = `more than ${maxSignalBytes} bytes of signals came at once: send it again`;
      return new Undecodable(data.length, why) as T;
    }
    if (nestsTooDeep(data)) return new Undecodable(data.length, `nested deeper than ${maxDepth}`) as T;
    const ambiguous = isStrict(payload) && hasEncoding(payload, 'json/plain') ? ambiguityOf(data) : undefined;
    if (ambiguous !== undefined) return ambiguous as T;
    try {
      return plainPayloadConverter.fromPayload<T>(payload);
    } catch {
      return new Undecodable(data.length, 'not JSON in an encoding known here') as T;
    }
  }
}

/** Reasons for unread payloads, by the codes of `src/connection/server-error.ts`. */
const notRead: Readonly<Record<string, string>> = {
  elsewhere: 'it is kept in external storage that is not configured here',
  gone: 'it is kept in the payload folder, and its file is missing or damaged',
  forged: 'it claims to be in the payload folder, and was never written there',
  encoded: 'it is encoded, and the codecs here do not decode it',
};

function isUnread(payload: Payload): boolean {
  return hasEncoding(payload, unreadEncoding);
}

function hasEncoding({ metadata }: Payload, name: string): boolean {
  const encoding = metadata?.['encoding'];
  return encoding != null && encoding.length === name.length && decode(encoding) === name;
}

/** Returns an `Undecodable` if another parser could read the JSON differently. Ignores JSON that no parser reads. */
function ambiguityOf(data: Uint8Array): Undecodable | undefined {
  const text = decode(data);
  // Decoding replaces bytes that are not UTF-8 with U+FFFD, but the sender may also have sent U+FFFD itself.
  if (text.includes('\ufffd') && !isSame(encode(text), data)) return new Undecodable(data.length, 'not UTF-8');
  const problem = strictJsonProblem(text, { maxDepth });
  if (problem === undefined) return undefined;
  const { place, expected } = problem;
  // In a list of decisions, the place begins with the index of the decision.
  const [field, ...below] = typeof place[0] === 'number' ? place.slice(1) : place;
  const isInEdit = field === 'modifiedArguments' && below.length > 0;
  const code = isInEdit ? 'arguments_invalid' : 'undecodable';
  return new Undecodable(data.length, `${jsonPlace('message', place)}: ${expected}`, { code });
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

function unwritable(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`Cannot write a payload: ${message}`, 'undecodable');
}

export const payloadConverter: PayloadConverter = new BrandingPayloadConverter();
