import { isMediaType, mostFiles, type TakenFiles } from '../core/base/user-files.ts';
import { storedLimits } from '../core/base/size-limits.ts';
import { checkOptions, checkPositiveInteger, DefinitionError } from './check-options.ts';

/**
 * Option `files` of `defineAgent`: the files that the agent accepts, within the limits of its model. Only `types` is
 * required.
 */
export interface FileOptions {
  /** Media types, such as `['image/png', 'application/pdf']`. */
  types: readonly string[];
  /**
   * The most bytes of one file that is sent as data. Default and maximum 4,000,000. All such files of one message may
   * have 700,000 bytes, or 4,000,000 if the worker has `largePayloads`.
   */
  maxBytes?: number;
  /** The most files of one message. Default 10, at most 20. */
  maxFiles?: number;
  /**
   * Hosts from which a file may come by https address: `files.example.com`, `*.example.com` for all below it, or `*`.
   * The model's provider fetches the address, at each call; the worker never does. Default: none.
   */
  hosts?: readonly string[];
}

const defaultMaxFiles = 10;
const hostShape = /^(?:\*|(?:\*\.)?[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,10})$/;

/** Throws a `DefinitionError` for invalid options. */
export function takenFiles(place: string, options: FileOptions): TakenFiles {
  checkOptions(place, options, ['types', 'maxBytes', 'maxFiles', 'hosts']);
  const { types, maxBytes = storedLimits.fileBytes, maxFiles = defaultMaxFiles, hosts = [] } = options;
  if (!Array.isArray(types) || types.length === 0 || !types.every(isMediaType)) {
    throw new DefinitionError(
      `${place}: types must be a list of media types, such as ['image/png', 'application/pdf']`,
    );
  }
  checkPositiveInteger(`${place}: maxBytes`, maxBytes, storedLimits.fileBytes);
  checkPositiveInteger(`${place}: maxFiles`, maxFiles, mostFiles);
  if (!Array.isArray(hosts) || !hosts.every((each) => typeof each === 'string' && hostShape.test(each))) {
    throw new DefinitionError(
      `${place}: hosts must be a list of host names in lower case, such as ['files.example.com', '*.example.org']`,
    );
  }
  return Object.freeze({ types: Object.freeze([...types]), maxBytes, maxFiles, hosts: Object.freeze([...hosts]) });
}
