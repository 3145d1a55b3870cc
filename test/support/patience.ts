import { jest } from '@jest/globals';

/**
 * Tests with a real server wait for conditions: how long is no part of what they claim. A worker without a cache
 * (`npm run test:zero-cache`) now and then leaves a task after a rejected update to the server's ten seconds.
 */
jest.setTimeout(process.env.COUNTERSIGN_TEST_CACHE === '0' ? 300_000 : 60_000);
