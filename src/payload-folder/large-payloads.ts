import { type DataConverter, type StorageDriver, ExternalStorage } from '@temporalio/common';
import { checkCallOptions } from '../text/check-call-options.ts';
import { ProblemError } from '../core/base/problem.ts';
import { FolderDriver, folderDriverName, type WhenGone } from './folder-driver.ts';
import { openPayloadFolder } from './open-folder.ts';
import { unreadPayload } from '../connection/server-error.ts';

/** Options for storing payloads that Temporal's server would refuse, or should not store in its own database. */
export interface LargePayloads {
  /** A folder that all workers of a task queue and all clients of its runs share; created if it does not exist. */
  folder: string;
  /** Payloads of at least this many bytes go there. Default 262,144; from 65,536 to 1,000,000. */
  thresholdBytes?: number;
}

export const defaultThresholdBytes = 262_144;
/** Below, the inbox's memo could go there, but is read without it; above, two payloads may exceed a message. */
const thresholdBounds = [65_536, 1_000_000] as const;

/** The option, else the environment's `COUNTERSIGN_PAYLOAD_…`; `false`: no folder, even so. Throws `internal`. */
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

/** Sets external storage where `given` has none: without a folder, one that follows no reference. Throws `internal`. */
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

  /** References to other stores are not read here, as without any folder (I5c). */
  override getDriver(name: string): StorageDriver {
    return name === folderDriverName ? this.#driver : noDriver;
  }
}

/**
 * Replaces references to external storage with undecodable payloads. Temporal's SDK would throw on the first one,
 * before a converter sees it: one signal would make a run retry for ever, and one memo would hide the inbox (I5c).
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
