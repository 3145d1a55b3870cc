import { fits, type Shape, type ShapeOf } from '../base/shape.ts';
import { redactionShape, type Redaction } from '../redact/redaction.ts';
import { type ShellSplit, shellShape } from '../shell/parts.ts';
import { type Assessment, assessmentShape } from './assessment.ts';

/** What an activity finds out about the arguments of a call. The run records it with the result. */
export interface ArgumentFacts {
  /**
   * How the call's shell command splits into parts. `argument` names the argument with the command. Without a split,
   * or if the run recorded another argument as the tool's subject, the gate uses `notSplit` (I2).
   */
  shell?: ShellSplit & { argument: string };
  /** One sentence about the call by the tool's own `describe`, of at most 300 characters. */
  sentence?: string;
  /** The assessment of the built-in assessors and the worker's own; absent if they give none. */
  assessment?: Assessment;
  /** What reviewers do not see of `args`. Absent: the arguments were not searched. */
  redaction?: Redaction;
  /** Why the worker that computed these facts would refuse to start the call. Absent: it would start the call. */
  cannotStart?: string;
}

export const argumentFacts = {
  'shell?': (value) => fits(value, { argument: 'string' }) && fits(value, shellShape),
  'sentence?': 'string',
  'assessment?': assessmentShape,
  'redaction?': redactionShape,
  'cannotStart?': 'string',
} satisfies ShapeOf<ArgumentFacts>;

/** The result of activity `countersign.checkEdit` for edited arguments that can run: a run ignores others (I5d). */
export const checkedArguments = { args: {}, ...argumentFacts } satisfies Shape;
