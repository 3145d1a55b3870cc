import { readFault } from 'countersign/base';
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { readPrivateKey } from 'countersign/adapter';
import type { Signer } from 'countersign/client';
import { UsageError } from './output.ts';

export interface ReviewerOptions {
  reviewer?: string;
  reason?: string;
}

/** Adds the flags for the sender and the reason, for every command that changes a run. */
export function withReviewer(command: Command, why: string): Command {
  return command
    .option('--reason <text>', why)
    .option('--reviewer <name>', 'who you are, as a claimed name (default: the user of this system)');
}

/** Returns the name that the user claims, else that of the system's user. With a key, only a claimed name counts. */
export function reviewerOf({ reviewer, sign }: ReviewerOptions & SignerOptions): string | undefined {
  if (reviewer !== undefined || sign !== undefined) return reviewer;
  try {
    return userInfo().username;
  } catch {
    return undefined; // in some containers, the user has no name
  }
}

export function senderOf(options: ReviewerOptions & SignerOptions): { by?: string; reason?: string } {
  return { by: reviewerOf(options), reason: options.reason };
}

/** The flags of a signature. They contain the private key, so they must never be printed. */
export interface SignerOptions {
  /** The private key itself, read from the file that the flag names. */
  sign?: string;
  key?: string;
}

/** Adds `--sign` and `--key`, for messages that a run can verify. `what`: the text for the help. */
export function withSigner(command: Command, what = 'sign with this private key, which says who you are'): Command {
  return command
    .option('--sign <key file>', what, (file) => readKeyFile('--sign', file))
    .option('--key <id>', "with --sign: the key's id under reviewer_keys in the operator's policy")
    .hook('preAction', (signed) => {
      const { sign, key } = signed.opts<SignerOptions>();
      if ((sign === undefined) !== (key === undefined)) {
        throw new UsageError("To sign, give the private key's file and the key's id: --sign FILE --key ID.");
      }
    });
}

/** Returns the option `sign` of the client's methods; empty without the flags. */
export function signerOf({ sign, key }: SignerOptions): { sign?: Signer } {
  return sign === undefined || key === undefined ? {} : { sign: { keyId: key, privateKey: sign } };
}

/** Reads a key file. The usage error names no file, because its name may be the key itself, passed by mistake. */
export function readKeyFile(flag: string, file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    // The message of the system has the name, so only its code is passed on.
    const { code = 'it is not a file' } = cause as NodeJS.ErrnoException;
    throw new UsageError(`${flag}: the file of the private key cannot be read: ${readFault({ code, message: code })}.`);
  }
  try {
    readPrivateKey(text);
  } catch (error) {
    throw new UsageError(`${flag}: ${(error as Error).message}.`);
  }
  return text;
}
