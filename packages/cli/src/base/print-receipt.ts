import { escapeText } from 'countersign/base';
import type { Receipt } from 'countersign/client';
import type { Output } from './output.ts';

/** Prints the receipt of a message to a run: its sentence for people, all fields for programs. */
export function printReceipt(output: Output, receipt: Receipt): void {
  if (!output.forPeople) output.json(receipt);
  else
    output.line(receipt.recorded ? output.style('yellow', escapeText(receipt.message)) : escapeText(receipt.message));
}
