import { describe, expect, test } from 'vitest';
import { largePayloadsOf } from '../../src/payload-folder/large-payloads.ts';

const folder = 'payloads';
const environment = { COUNTERSIGN_PAYLOAD_FOLDER: 'elsewhere', COUNTERSIGN_PAYLOAD_THRESHOLD: '100000' };

describe('largePayloads', () => {
  test.each([
    [undefined, {}, undefined],
    [undefined, { COUNTERSIGN_PAYLOAD_FOLDER: '' }, undefined],
    [{ folder }, {}, { folder, thresholdBytes: 262_144 }],
    [{ folder, thresholdBytes: 65_536 }, environment, { folder, thresholdBytes: 65_536 }],
    [undefined, environment, { folder: 'elsewhere', thresholdBytes: 100_000 }],
    [undefined, { COUNTERSIGN_PAYLOAD_FOLDER: 'elsewhere' }, { folder: 'elsewhere', thresholdBytes: 262_144 }],
    [false, environment, undefined],
  ] as const)('%j with %j is %j', (option, environment, expected) => {
    expect(largePayloadsOf(option, environment)).toEqual(expected);
  });

  test.each([
    [{ folder, thresholdBytes: 65_535 }, {}, 'largePayloads.thresholdBytes'],
    [{ folder, thresholdBytes: 1_000_001 }, {}, 'largePayloads.thresholdBytes'],
    [{ folder, thresholdBytes: 70_000.5 }, {}, 'largePayloads.thresholdBytes'],
    [undefined, { ...environment, COUNTERSIGN_PAYLOAD_THRESHOLD: 'much' }, 'COUNTERSIGN_PAYLOAD_THRESHOLD'],
  ] as const)('%j with %j is refused by name', (option, environment, name) => {
    expect(() => largePayloadsOf(option, environment)).toThrow(`${name} must be a whole number from 65536 to 1000000.`);
  });
});
