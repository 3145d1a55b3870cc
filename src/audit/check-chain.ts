import type { SealedLine } from './audit-line.ts';
import type { FindingKind } from './finding.ts';
import { type TreeState, emptyTree, rootOf, withLeaf } from '../core/ledger/merkle.ts';
import { lineLeaf, sealText } from './seal-lines.ts';

export interface ChainOptions {
  /** Whose signature every line must have; undefined: no line needs one. */
  publicKey: string | undefined;
  isSigned: (publicKey: string, text: string, signature: string) => boolean;
}

/** A break of the chain of lines: the first one is reported, because every later line differs with it. */
export interface ChainBreak {
  line: number;
  kind: FindingKind;
  message: string;
}

/** Checks each line against the tree over the lines before it. */
export class ChainCheck {
  readonly #options: ChainOptions;
  #tree: TreeState = emptyTree;
  #broken: (ChainBreak & { lost?: number }) | undefined;

  constructor(options: ChainOptions) {
    this.#options = options;
  }

  /** The first break, once all lines were taken. */
  get broken(): ChainBreak | undefined {
    if (this.#broken === undefined) return undefined;
    const { line, kind, message } = this.#broken;
    return { line, kind, message };
  }

  take(number: number, line: SealedLine): void {
    const { proof } = line;
    if (this.#broken !== undefined) {
      // The line that is missing where the chain broke is here: it was moved.
      if (proof.size === this.#broken.lost) {
        this.#broken = {
          line: this.#broken.line,
          kind: 'reordered',
          message: `the line that belongs here is line ${number} now`,
        };
      }
      return;
    }
    const next = withLeaf(this.#tree, lineLeaf(line));
    const { size } = next;
    if (proof.size > size) {
      const last = proof.size - 1;
      const what = last === size ? `line ${size} is` : `lines ${size} to ${last} are`;
      this.#broken = { line: number, kind: 'deleted', message: `${what} missing before this one`, lost: size };
      return;
    }
    if (proof.size < size) {
      const message = `this is line ${proof.size} of the export, which has been here already`;
      this.#broken = { line: number, kind: 'repeated', message };
      return;
    }
    if (rootOf(next) !== proof.root) {
      this.#broken = { line: number, kind: 'edited', message: 'the line is not what the exporter wrote' };
      return;
    }
    if (!this.#isSigned(line)) {
      const message =
        proof.signature === undefined ? 'the line is not signed' : 'the line is not signed with this key as it is here';
      this.#broken = { line: number, kind: 'signature', message };
      return;
    }
    this.#tree = next;
  }

  #isSigned({ proof }: SealedLine): boolean {
    const { publicKey, isSigned } = this.#options;
    if (publicKey === undefined) return proof.signature === undefined;
    return proof.signature !== undefined && isSigned(publicKey, sealText(proof), proof.signature);
  }
}
