/** An open request, and what its channels were told of it. Carried through continue-as-new. */
export interface Tracked {
  requestId: string;
  deadlineMs: number | null;
  /** The channels that it has, as the run said last. */
  channels: string[];
  /** The channels that were told of it. */
  asked: string[];
  /** The channels that are to answer, or have. */
  begun: string[];
  /** How many answers were sent to the run. */
  answers: number;
  /** The keys of the steps that were taken. */
  steps: string[];
}
