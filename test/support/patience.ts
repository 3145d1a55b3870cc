import { jest } from '@jest/globals';

/**
 * Tests with a real server wait for conditions; how long they wait is not part of what they verify. Without a cache
 * (`npm run test:zero-cache`), a worker sometimes leaves the task after a rejected update to the server's ten-second
 * timeout.
 */
jest.setTimeout(process.env.COUNTERSIGN_TEST_CACHE === '0' ? 300_000 : 60_000);
