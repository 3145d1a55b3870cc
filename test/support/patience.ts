import { jest } from '@jest/globals';

/** Tests with a real server wait for conditions: how long is no part of what they claim. */
jest.setTimeout(60_000);
