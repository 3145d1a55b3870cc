/** The most that a run holds in one piece, in bytes of UTF-8. What exceeds a limit is refused, never cut. */
export interface SizeLimits {
  /** The raw arguments of one call. */
  argumentBytes: number;
  /** One turn of the model: its text and all its calls. */
  turnBytes: number;
  /** The result of one tool. */
  resultBytes: number;
  /** The files of one message of the user, decoded. */
  fileBytes: number;
  /** The transcript. A run whose transcript exceeds this ends with the status `limit`. */
  transcriptBytes: number;
  /** The state that continue-as-new carries. A run whose state exceeds this does not continue as new. */
  carriedBytes: number;
}

/** Limits if all data travels in Temporal's own payloads, which may have at most 2 MB. */
export const inlineLimits: SizeLimits = {
  argumentBytes: 1_048_576,
  turnBytes: 1_500_000,
  resultBytes: 1_000_000,
  fileBytes: 700_000,
  transcriptBytes: 1_500_000,
  carriedBytes: 1_900_000,
};

/** Limits if large payloads travel by reference (`largePayloads`); the transcript must still fit into memory. */
export const storedLimits: SizeLimits = {
  argumentBytes: 4_194_304,
  turnBytes: 8_000_000,
  resultBytes: 4_000_000,
  fileBytes: 4_000_000,
  transcriptBytes: 16_000_000,
  carriedBytes: 48_000_000,
};
