/** How much a run may hold in one piece, in bytes of UTF-8. What passes a limit is refused in a sentence, never cut. */
export interface SizeLimits {
  /** The raw arguments of one call. */
  argumentBytes: number;
  /** One turn of the model: its text and all its calls. */
  turnBytes: number;
  /** The result of one tool. */
  resultBytes: number;
  /** The transcript; a run whose transcript passes it ends with the status `limit`. */
  transcriptBytes: number;
  /** What continue-as-new carries; a run that holds more goes on in its link. */
  carriedBytes: number;
}

/** Everything travels in Temporal's own payloads, which end at 2 MB. */
export const inlineLimits: SizeLimits = {
  argumentBytes: 1_048_576,
  turnBytes: 1_500_000,
  resultBytes: 1_000_000,
  transcriptBytes: 1_500_000,
  carriedBytes: 1_900_000,
};

/**
 * Large payloads travel by reference (`largePayloads` of the worker). Still limited: a run holds its transcript in
 * memory and sends it whole to each model call.
 */
export const storedLimits: SizeLimits = {
  argumentBytes: 4_194_304,
  turnBytes: 8_000_000,
  resultBytes: 4_000_000,
  transcriptBytes: 16_000_000,
  carriedBytes: 48_000_000,
};
