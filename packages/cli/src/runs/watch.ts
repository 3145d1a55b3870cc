import type { Command } from 'commander';
import { escapeText } from 'countersign/base';
import type { RunEvent } from 'countersign/client';
import { type ClientFlags, nextCommand, withClient, withClientFlags } from '../base/command-line.ts';
import { eventPrinter } from './event-lines.ts';
import { jsonFields } from '../base/json-fields.ts';
import { untilInterrupted } from '../base/until-interrupted.ts';

interface WatchOptions extends ClientFlags {
  after?: string;
  tokens: boolean;
}

/** `countersign watch RUN`: the events of a run as they happen, until it ends. */
export function addWatch(program: Command): void {
  withClientFlags(program.command('watch <run>'), jsonFields.event)
    .description('follow a run: what the model says, calls, requests, decisions and results, until it ends')
    .option('--after <id>', 'go on after this event, also when the run is over')
    .option('--no-tokens', 'wait for the whole answer of the model')
    .action((workflowId: string, options: WatchOptions) =>
      withClient(options, async (client, output) => {
        const stop = new AbortController();
        const { tokens, after } = options;
        const print = eventPrinter(output, options);
        let last = after;
        const events: AsyncIterable<RunEvent> = client.events(workflowId, { after, tokens, signal: stop.signal });
        const watching = (async () => {
          for await (const event of events) {
            print(event);
            if (event.type !== 'RawResponseEvent') last = event.id;
          }
        })();
        const first = await Promise.race([watching, untilInterrupted()]);
        stop.abort();
        await watching;
        if (first === undefined) return;
        process.exitCode = 130;
        const resume = last === undefined ? [] : ['--after', last];
        output.note(`\nThe run continues. Go on: ${nextCommand(options, 'watch', escapeText(workflowId), ...resume)}`);
      }),
    );
}
