import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { SignerOptions } from './signer.ts';

export interface ReviewerOptions {
  reviewer?: string;
  reason?: string;
}

/** Adds the flags for who acts and why, for every command that changes a run. */
export function withReviewer(command: Command, why: string): Command {
  return command
    .option('--reason <text>', why)
    .option('--reviewer <name>', 'who you are, as a claimed name (default: the user of this system)');
}

/**
 * The claimed name. Undefined if a key identifies the signer, and for a system user without a name, as in some
 * containers.
 */
export function reviewerOf({ reviewer, sign }: ReviewerOptions & SignerOptions): string | undefined {
  if (reviewer !== undefined || sign !== undefined) return reviewer;
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

/** `by` and `reason` of a message. */
export function senderOf(options: ReviewerOptions & SignerOptions): { by?: string; reason?: string } {
  return { by: reviewerOf(options), reason: options.reason };
}
