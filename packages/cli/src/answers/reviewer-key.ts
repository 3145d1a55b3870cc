import { writeFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { escapeText, readFault } from 'countersign/base';
import { createReviewerKey, publicKeyOf } from 'countersign/client';
import { type CommonOptions, withCommonOptions } from '../base/command-line.ts';
import { processOutput, UsageError, type Output } from '../base/output.ts';
import { readKeyFile } from '../base/reviewer.ts';

interface KeyOptions extends CommonOptions {
  out: string;
  of?: string;
}

/** Adds the command that creates a key pair. It writes the private key to a file and nowhere else. */
export function addReviewerKey(command: Command): void {
  withCommonOptions(command)
    .option('--out <file>', 'where the private key goes; no file is replaced', 'reviewer-key.pem')
    .addOption(new Option('--of <key file>', 'print the public half of a private key that exists').conflicts('out'))
    .action(({ out, of, ...options }: KeyOptions) => {
      const output = processOutput(options);
      if (of === undefined) return makeReviewerKey(out, output);
      const publicKey = publicKeyOf(readKeyFile('--of', of));
      output.result(publicKey, { publicKey });
    });
}

/** Writes a new private key to a file that must not exist yet, and prints the public key. */
export function makeReviewerKey(file: string, output: Output): void {
  const { publicKey, privateKey } = createReviewerKey();
  try {
    writeFileSync(file, privateKey, { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new Error(`${file} exists already: choose another file with --out.`, { cause });
    const fault = code === 'ENOENT' ? 'its folder does not exist' : readFault(cause);
    throw new UsageError(`The private key cannot be written to ${file}: ${fault}.`);
  }
  if (output.forPeople) output.note(`${escapeText(file)} holds the private key now. Its public key:`);
  output.result(publicKey, { publicKey, privateKeyFile: file });
}
