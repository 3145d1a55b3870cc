import { escapeJson, escapeText, type JsonObject } from 'countersign/base';
import type { Output } from '../base/output.ts';

/** Compares two sets of arguments, one argument per line: `-` before, `+` after, unmarked if unchanged. */
export function renderChanges(output: Output, before: JsonObject, after: JsonObject): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .flatMap((name) => {
      const [was, is] = [lineOf(before, name), lineOf(after, name)];
      if (was === is) return [output.style('dim', `  ${was}`)];
      return [
        ...(was === undefined ? [] : [output.style('red', `- ${was}`)]),
        ...(is === undefined ? [] : [output.style('green', `+ ${is}`)]),
      ];
    })
    .join('\n');
}

function lineOf(args: JsonObject, name: string): string | undefined {
  return Object.hasOwn(args, name) ? `${escapeText(name)}: ${escapeJson(args[name]!)}` : undefined;
}
