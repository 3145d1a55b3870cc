import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { escapeText } from 'countersign/base';
import type { Output } from '../base/output.ts';
import type { WorkerEvent } from './reloading-worker.ts';

/** One line about what happens to the worker: on standard output for programs, mostly on standard error for people. */
export function tellWorkerEvent(event: WorkerEvent, output: Output): void {
  if (!output.forPeople) return output.json(event);
  switch (event.event) {
    case 'worker':
      return output.line(
        `Worker of ${event.agents.map(escapeText).join(', ')}, which follows the files of its module.`,
      );
    case 'changed':
      return output.note(output.style('dim', `${event.files.map(shortPath).join(', ')} changed.`));
    case 'broken': {
      const still = event.kept ? 'The worker before goes on.' : 'Nothing runs until this is mended.';
      const stop = event.message.endsWith('.') ? '' : '.';
      return output.note(`${output.style('red', `${escapeText(event.message)}${stop}`)} ${still}`);
    }
    case 'ended':
      return output.note(output.style('red', escapeText(event.message)));
  }
}

function shortPath(path: string): string {
  const short = relative('', path);
  return escapeText(existsSync(path) ? short : `${short} (gone)`);
}
