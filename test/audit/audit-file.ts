import type { SealedLine } from '../../src/audit/audit-line.ts';
import { readLine } from '../../src/audit/read-line.ts';
import { sealer, sealText } from '../../src/audit/entry-line.ts';
import { type VerifyAuditOptions, verifyAudit } from '../../src/client/audit/verify-audit.ts';

/** The lines of an export, as a file holds them. */
export async function exported(lines: AsyncIterable<SealedLine>): Promise<string[]> {
  const texts: string[] = [];
  for await (const line of lines) texts.push(JSON.stringify(line));
  return texts;
}

export function verified(lines: readonly string[], options?: VerifyAuditOptions) {
  return verifyAudit(
    lines.map((text) => ({ text })),
    options,
  );
}

/**
 * What somebody does who can compute hashes: gives each line that still is one a new place. Signatures of lines before
 * the first change stay valid; `sign` signs the others.
 */
export function resealed(lines: readonly string[], sign?: (text: string) => string): string[] {
  const seal = sealer();
  return lines.map((text) => {
    const read = readLine(text);
    if ('problem' in read) return text;
    const { proof, ...line } = read.line;
    const made = seal(line);
    const isUnchanged = made.proof.root === proof.root;
    const signature = isUnchanged ? proof.signature : sign?.(sealText(made.proof));
    return JSON.stringify({ ...made, proof: { ...made.proof, ...(signature !== undefined && { signature }) } });
  });
}

/** Changes one line. */
export function edited(lines: readonly string[], index: number, edit: (line: never) => void): string[] {
  const line = JSON.parse(lines[index]!) as never;
  edit(line);
  return lines.with(index, JSON.stringify(line));
}

/** The index of entry `seq`, of the first run by default. */
export function lineOf(lines: readonly string[], seq: number, run = 1): number {
  return lines.findIndex((text) => {
    const line = JSON.parse(text) as SealedLine;
    return line.line === 'entry' && line.run === run && line.entry.seq === seq;
  });
}
