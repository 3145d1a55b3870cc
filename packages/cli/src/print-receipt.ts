import type { Receipt } from '../../contract.ts';
import { escapeText } from '../../core/base/escape-text.ts';
import type { Output } from './output.ts';

/** Prints the receipt of a message to a run: its sentence for people, all fields for programs. */
export function printReceipt(output: Output, receipt: Receipt): void {
  if (!output.forPeople) output.json(receipt);
  else
    output.line(receipt.recorded ? output.style('yellow', escapeText(receipt.message)) : escapeText(receipt.message));
}
