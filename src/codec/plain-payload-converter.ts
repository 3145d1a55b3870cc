/** Temporal's default payload converter with Countersign's JSON reader, which gives the same value in every process. */
import {
  BinaryPayloadConverter,
  CompositePayloadConverter,
  JsonPayloadConverter,
  type Payload,
  UndefinedPayloadConverter,
} from '@temporalio/common';
import { decode } from '@temporalio/common/lib/encoding.js';
import { parseJson } from '../core/base/json.ts';

class JsonPayloads extends JsonPayloadConverter {
  // oxlint-disable-next-line no-unnecessary-type-parameters -- the interface is Temporal's
  override fromPayload<T>(payload: Payload): T {
    if (payload.data == null) throw new TypeError('a JSON payload has no data');
    return parseJson(decode(payload.data)) as T;
  }
}

export const plainPayloadConverter = new CompositePayloadConverter(
  new UndefinedPayloadConverter(),
  new BinaryPayloadConverter(),
  new JsonPayloads(),
);
