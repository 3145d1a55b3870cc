import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files of whole processes and browsers first, because they take longest and wait most, and the short pure tests last:
 * so the processes that run tests end together.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = (file: TestSpecification): number => (file.moduleId.includes('/test/e2e/') ? 0 : 1);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}
