import { type DataConverter, type StorageDriver, ExternalStorage } from '@temporalio/common';
import { checkCallOptions } from '../text/check-call-options.ts';
import { ProblemError } from '../core/base/problem.ts';
import { FolderDriver, folderDriverName, type WhenGone } from './folder-driver.ts';
import { openPayloadFolder } from './open-folder.ts';
import { unreadPayload } from '../connection/server-error.ts';

/** Options for payloads that are stored as files, because Temporal's server refuses large ones. */
export interface LargePayloads {
  /** The folder that all workers of a task queue and all clients of its runs share. It is created if missing. */
  folder: string;
  /** Payloads of this many bytes or more become files. Default 262,144; from 65,536 to 1,000,000. */
  thresholdBytes?: number;
}

export const defaultThresholdBytes = 262_144;
/** With less, the memo for the inbox could become a file. With more, two payloads could exceed a gRPC message. */
const thresholdBounds = [65_536, 1_000_000] as const;

/** Returns the option, else what the environment sets; undefined for no folder. Throws for a wrong threshold. */
export function largePayloadsOf(
  option: LargePayloads | false | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): Required<LargePayloads> | undefined {
  if (option === false) return undefined;
  if (option !== undefined) {
    checkCallOptions('largePayloads', option, { folder: true, thresholdBytes: true }, 'internal');
  }
  const { COUNTERSIGN_PAYLOAD_FOLDER: folder = '', COUNTERSIGN_PAYLOAD_THRESHOLD: threshold = '' } = environment;
  if (option === undefined && folder === '') return undefined;
  const wanted = option ?? { folder, thresholdBytes: threshold === '' ? undefined : Number(threshold) };
  const { thresholdBytes = defaultThresholdBytes } = wanted;
  const [least, most] = thresholdBounds;
  if (Number.isInteger(thresholdBytes) && thresholdBytes >= least && thresholdBytes <= most) {
    return { folder: wanted.folder, thresholdBytes };
  }
  const where = option === undefined ? 'COUNTERSIGN_PAYLOAD_THRESHOLD' : 'largePayloads.thresholdBytes';
  throw new ProblemError({ code: 'internal', message: `${where} must be a whole number from ${least} to ${most}.` });
}

/** Adds external storage if `given` has none: the folder, with `whenGone` for lost files, or `unreadReferences`. */
export function withStorage(
  given: DataConverter | undefined,
  largePayloads: Required<LargePayloads> | undefined,
  namespace: string,
  whenGone: WhenGone,
): DataConverter {
  if (given?.externalStorage !== undefined) return given;
  if (largePayloads === undefined) return { ...given, externalStorage: unreadReferences };
  const { folder, thresholdBytes } = largePayloads;
  const driver = new FolderDriver(openPayloadFolder(folder, namespace), whenGone);
  return { ...given, externalStorage: new FolderStorage(driver, thresholdBytes) };
}

class FolderStorage extends ExternalStorage {
  readonly #driver: FolderDriver;

  constructor(driver: FolderDriver, thresholdBytes: number) {
    super({ drivers: [driver], payloadSizeThreshold: thresholdBytes });
    this.#driver = driver;
  }

  /** Returns a driver for each name, because the SDK would throw for a reference to an unknown driver. */
  override getDriver(name: string): StorageDriver {
    return name === folderDriverName ? this.#driver : noDriver;
  }
}

/**
 * Reads every reference to external storage as an undecodable payload. Without it, Temporal's SDK would throw for a
 * reference: one signal with a reference would make a run retry for ever, and one memo would hide the inbox (I5c).
 */
class UnreadReferences extends ExternalStorage {
  constructor() {
    super({ drivers: [noDriver], driverSelector: () => null });
  }

  override getDriver(): StorageDriver {
    return noDriver;
  }
}

export const noDriver: StorageDriver = {
  name: 'countersign.none',
  type: 'countersign.none',
  store: () => Promise.reject(new Error('countersign stores no payloads outside of Temporal')),
  retrieve: (_context, claims) => Promise.resolve(claims.map(() => unreadPayload('elsewhere'))),
};

export const unreadReferences: ExternalStorage = new UnreadReferences();
