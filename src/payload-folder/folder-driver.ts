import type {
  Payload,
  StorageDriver,
  StorageDriverClaim as Reference,
  StorageDriverRetrieveContext,
  StorageDriverStoreContext,
} from '@temporalio/common';
import { ApplicationFailure, StorageDriverClaim } from '@temporalio/common';
import proto from '@temporalio/proto';
import { payloadNotKeptType, payloadUnreadType } from '../core/base/tool-call.ts';
import { unreadPayload } from '../connection/server-error.ts';
import { claimOf, fileNameIn, keepFile, maxFileBytes, readKept } from './payload-files.ts';
import type { PayloadFolder } from './open-folder.ts';

const PayloadMessage = proto.temporal.api.common.v1.Payload;

/** The name of the driver in references to Countersign's folders. */
export const folderDriverName = 'countersign.folder';

/**
 * What a missing or damaged file leads to. `retry`, for workers: Temporal retries until the file is back, because a
 * replay needs the same inputs. `unread`, for clients: the payload is read as undecodable.
 */
export type WhenGone = 'retry' | 'unread';

/** Stores payloads as files of a folder; `docs/operations.md` describes the requirements for the folder. */
export class FolderDriver implements StorageDriver {
  readonly name = folderDriverName;
  readonly type = folderDriverName;
  readonly #folder: PayloadFolder;
  readonly #whenGone: WhenGone;

  constructor(folder: PayloadFolder, whenGone: WhenGone) {
    this.#folder = folder;
    this.#whenGone = whenGone;
  }

  store(_context: StorageDriverStoreContext, payloads: Payload[]): Promise<Reference[]> {
    return Promise.all(payloads.map((payload) => this.#store(payload)));
  }

  retrieve({ abortSignal }: StorageDriverRetrieveContext, claims: Reference[]): Promise<Payload[]> {
    return Promise.all(claims.map(({ claimData }) => this.#retrieve(claimData, abortSignal)));
  }

  /** Writes a payload to its file, and returns the reference that stands for it in history. */
  async #store(payload: Payload): Promise<Reference> {
    const content = PayloadMessage.encode(payload).finish();
    if (content.length > maxFileBytes) {
      throw notKept(`it has ${content.length} bytes, and at most ${maxFileBytes} can be kept`);
    }
    try {
      return new StorageDriverClaim({ ...claimOf(this.#folder.key, await keepFile(this.#folder.path, content)) });
    } catch (error) {
      throw notKept((error as Error).message);
    }
  }

  /** Reads a payload from its file. If the file is missing or damaged, throws or returns a mark, as `whenGone` says. */
  async #retrieve(claimData: Record<string, string>, signal: AbortSignal | undefined): Promise<Payload> {
    const name = fileNameIn(this.#folder.key, claimData);
    if (name === undefined) return unreadPayload('forged');
    let why: string;
    try {
      const content = await readKept(this.#folder.path, name, signal);
      if (typeof content !== 'string') return PayloadMessage.decode(content);
      why = content === 'missing' ? 'is not there' : 'holds something else than its name says';
    } catch (error) {
      why = (error as Error).message;
    }
    if (this.#whenGone === 'unread') return unreadPayload('gone');
    throw ApplicationFailure.create({
      message: `A payload cannot be read from the payload folder: file ${name} ${why}; bring the original back`,
      type: payloadUnreadType,
      nonRetryable: false,
    });
  }
}

const text = new TextDecoder();
const referenceType = 'temporal.api.sdk.v1.ExternalStorageReference';

/** Returns the claim in a payload that refers to one of Countersign's folders; undefined for any other payload. */
export function claimIn({ metadata, data }: Payload): Record<string, unknown> | undefined {
  const type = metadata?.['messageType'];
  if (!(type instanceof Uint8Array) || !(data instanceof Uint8Array) || text.decode(type) !== referenceType) {
    return undefined;
  }
  try {
    const { driverName, claimData } = JSON.parse(text.decode(data)) as { driverName?: unknown; claimData?: unknown };
    const isOurs = driverName === folderDriverName && typeof claimData === 'object' && claimData !== null;
    return isOurs ? (claimData as Record<string, unknown>) : undefined;
  } catch {
    return undefined; // the data is not JSON
  }
}

function notKept(why: string): ApplicationFailure {
  return ApplicationFailure.create({
    message: `A payload cannot be written to the payload folder: ${why}`,
    type: payloadNotKeptType,
    nonRetryable: false,
  });
}
