import { expect, test } from 'vitest';
import { defaultAssessment } from '../../../src/core/assess/assessment.ts';
import type { Risk, Severity } from '../../../src/core/base/tool-call.ts';

test.each<[Risk, Severity, boolean, boolean]>([
  ['read_only', 'safe', true, false],
  ['write', 'medium', true, true],
  ['destructive', 'high', false, true],
  ['unknown', 'high', true, true],
])('%s: severity %s, reversible %s, requires approval %s', (risk, severity, reversible, requiresApproval) => {
  expect(defaultAssessment(risk)).toEqual({
    severity,
    reasons: [expect.stringContaining(risk)],
    affectedResources: [],
    reversible,
    recommendations: [],
    requiresApproval,
  });
});
