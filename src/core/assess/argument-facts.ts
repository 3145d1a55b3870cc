import { fits, type Shape, type ShapeOf } from '../base/shape.ts';
import { redactionShape, type Redaction } from '../redact/redaction.ts';
import { type ShellSplit, shellShape } from '../shell/parts.ts';
import { type Assessment, assessmentShape } from './assessment.ts';

/** What an activity finds out about the arguments of a call. The run records it with the result. */
export interface ArgumentFacts {
  /**
   * The split of the call's shell command, which is in argument `argument`. Absent if there is none. If it is absent,
   * or the run recorded another subject, the gate uses `notSplit` (I2).
   */
  shell?: ShellSplit & { argument: string };
  /** One sentence about the call by the tool's own `describe`, of at most 300 characters. */
  sentence?: string;
  /** The assessment of the built-in assessors and the worker's own; absent if they give none. */
  assessment?: Assessment;
  /** What reviewers do not see of `args`. Absent: the arguments were not searched. */
  redaction?: Redaction;
  /** Why the second gate of the worker that found this out would refuse the call now. Absent: it would not. */
  cannotStart?: string;
}

export const argumentFacts = {
  'shell?': (value) => fits(value, { argument: 'string' }) && fits(value, shellShape),
  'sentence?': 'string',
  'assessment?': assessmentShape,
  'redaction?': redactionShape,
  'cannotStart?': 'string',
} satisfies ShapeOf<ArgumentFacts>;

/** Arguments that can run, as activity `countersign.checkEdit` returns them. Runs ignore another result (I5d). */
export const checkedArguments = { args: {}, ...argumentFacts } satisfies Shape;
