import { readFileSync } from 'node:fs';
import { policyInvalid } from './policy-invalid.ts';

/** Reads the PEM file that a member of a channel's settings names. Throws `policy_invalid`. */
export function readPem(path: string, member: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw policyInvalid(`The file of '${member}' cannot be read: ${(error as Error).message}.`);
  }
}
