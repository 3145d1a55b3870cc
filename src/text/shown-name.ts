import { shortened } from '../core/base/text.ts';
import { visibleText } from './visible-text.ts';

const longestName = 60;

/** A name in a notification: bounded, and without anything invisible. */
export function shownName(name: string): string {
  return shortened(visibleText(shortened(name, longestName).toWellFormed()), longestName);
}
