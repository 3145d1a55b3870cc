import { jest } from '@jest/globals';

/**
 * Tests with a real server wait for conditions; how long they wait is not part of what they verify. Beside other work,
 * or without a cache (`npm run test:zero-cache`), a condition may take minutes.
 */
jest.setTimeout(300_000);
