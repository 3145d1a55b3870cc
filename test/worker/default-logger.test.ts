import { afterEach, expect, test, vi } from 'vitest';
import { consoleChannel } from '../../src/channels/console-channel.ts';
import { defaultLogger } from '../../src/worker/create-worker.ts';
import { channelRequest } from '../channels/channel-request.ts';
import { TypedTerminal } from '../channels/typed-terminal.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

test('a question that stands on the terminal is asked again below what the worker logs', async () => {
  const terminal = new TypedTerminal();
  const stderr = vi
    .spyOn(process.stderr, 'write')
    .mockImplementation(() => terminal.output.write('(a line of the log)\n'));
  const logger = defaultLogger('WARN');
  const stop = new AbortController();
  const answer = consoleChannel({ input: terminal.input, output: terminal.output }).resolve!(
    channelRequest(),
    stop.signal,
    { attempt: 1 },
  );
  await terminal.shows('[d]eny [s]kip: ');
  logger.warn('The server is slow.', { taskQueue: 'desk' });
  await terminal.shows('\n(a line of the log)\n[a]pprove [d]eny [s]kip: ');
  expect(stderr.mock.calls.map(([text]) => text)).toEqual([
    expect.stringMatching(/\[WARN\] The server is slow\..*desk/),
  ]);
  logger.info('Below the level.');
  expect(stderr).toHaveBeenCalledTimes(1);
  stop.abort(new Error('over'));
  await expect(answer).rejects.toThrow('over');
});
