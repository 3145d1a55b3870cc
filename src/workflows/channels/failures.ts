import { ApplicationFailure } from '@temporalio/workflow';

const mostKept = 20;

/** The last failures of channels, as one sentence each. */
export class Failures {
  readonly #kept: { requestId: string; text: string }[] = [];

  note(requestId: string, text: string): void {
    this.#kept.push({ requestId, text });
    this.#kept.splice(0, this.#kept.length - mostKept);
  }

  of(requestId: string): string[] {
    return this.#kept.filter((each) => each.requestId === requestId).map(({ text }) => text);
  }
}

export function failureReason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof ApplicationFailure) return `${cause.type ?? 'Error'}: ${cause.message}`.slice(0, 300);
  return cause instanceof Error ? cause.message.slice(0, 300) : 'it failed';
}
