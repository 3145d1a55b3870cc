import { afterAll, beforeAll } from 'vitest';

/** What all tests of a file, or of a `describe`, share: it is opened before them, and closed after them. */
export function forAllTests<Opened extends { close(): Promise<void> }>(open: () => Promise<Opened>): Opened {
  const opened = {} as Opened;
  beforeAll(async () => {
    Object.assign(opened, await open());
  });
  afterAll(() => opened.close?.());
  return opened;
}
