import type { Services } from '../connection/search-attributes.ts';
import { missingSearchAttributes } from '../connection/search-attributes.ts';
import { grpcStatus, grpcStatusOf } from '../connection/server-error.ts';
import type { AttributeNames } from '../core/base/attribute-names.ts';
import { ProblemError } from '../core/base/problem.ts';

/** Throws `internal` with one sentence if the namespace lacks search attributes of the inbox. */
export async function requireAttributes(connection: Services, namespace: string, names: AttributeNames): Promise<void> {
  const missing = await missingSearchAttributes(connection, namespace, names).catch((error: unknown) => {
    // Temporal's time-skipping test server keeps no list of them: it cannot be asked, and takes them all the same.
    if (grpcStatusOf(error) === grpcStatus.UNIMPLEMENTED) return [];
    throw error;
  });
  if (missing.length === 0) return;
  throw new ProblemError({
    code: 'internal',
    message: `Namespace '${namespace}' lacks the search attributes ${missing.join(', ')}: run \`countersign setup\` once.`,
  });
}
