/** How much one person may ask of a gateway. */
export interface GatewayLimits {
  /** The largest body of a request, in bytes. Default 2,000,000: Temporal takes no larger payload. */
  bodyBytes?: number;
  /** Requests that read, per person and minute. Default 1,200. */
  readsPerMinute?: number;
  /** Requests that change something, per person and minute. Default 300. */
  writesPerMinute?: number;
}

/** The limits of a gateway that sets none. */
export const defaultLimits = { bodyBytes: 2_000_000, readsPerMinute: 1_200, writesPerMinute: 300 } as const;
