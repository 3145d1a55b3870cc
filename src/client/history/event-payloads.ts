import type { temporal } from '@temporalio/proto';
import type { PlainFailure } from '../../events/history-event.ts';
import { isObject } from '../../core/base/json.ts';
import { definitionChangedType, previewChangedType } from '../../core/base/tool-failure.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import type { ReadValue } from '../server/read-payload.ts';

type Payload = temporal.api.common.v1.IPayload | null | undefined;
type Payloads = temporal.api.common.v1.IPayloads | null | undefined;
type Failure = temporal.api.failure.v1.IFailure | null | undefined;

/** The payloads of history events, each decoded once for all readers. */
export class EventPayloads {
  readonly #read: ReadValue;
  readonly #values = new WeakMap<object, unknown>();
  #unread = 0;

  constructor(read: ReadValue) {
    this.#read = read;
  }

  /** The number of undecodable payloads that are sources of run events, since the last call. */
  takeUnread(): number {
    const unread = this.#unread;
    this.#unread = 0;
    return unread;
  }

  /** The value of a payload that is a source of run events. */
  value(payload: Payload): unknown {
    const value = this.glance(payload);
    if (isUndecodable(value) && value.unread) this.#unread += 1;
    return value;
  }

  /** The value of the first payload, which is a source of run events. */
  first(payloads: Payloads): unknown {
    return this.value(payloads?.payloads?.[0]);
  }

  /** The value of a payload that is not a source of run events: not counted by `takeUnread`. */
  glance(payload: Payload): unknown {
    if (payload == null) return undefined;
    if (!this.#values.has(payload)) this.#values.set(payload, this.#read(payload));
    return this.#values.get(payload);
  }

  /**
   * The failure of an activity or a workflow. An `ActivityFailure` only wraps another failure, and then this is the
   * inner one.
   */
  failure(given: Failure): PlainFailure {
    const failure = given?.activityFailureInfo == null ? given : (given.cause ?? given);
    const message = this.#message(failure);
    const { applicationFailureInfo: application, timeoutFailureInfo: timeout } = failure ?? {};
    if (application != null) {
      const type = application.type ?? '';
      const isChange = type === definitionChangedType || type === previewChangedType;
      const payloads = isChange ? application.details?.payloads : undefined;
      return { kind: 'application', type, message, details: payloads?.map((payload) => this.glance(payload)) };
    }
    // TIMEOUT_TYPE_SCHEDULE_TO_START
    return { kind: Number(timeout?.timeoutType) === 2 ? 'schedule_to_start' : 'other', message };
  }

  /** The message of a failure. If a codec has encrypted it, the message is in `encodedAttributes`. */
  #message(failure: Failure): string {
    const encoded = this.value(failure?.encodedAttributes);
    const message = isObject(encoded) ? encoded['message'] : undefined;
    return typeof message === 'string' ? message : (failure?.message ?? '');
  }
}
