import type { Problem } from 'countersign/base';

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

/** Why a body is refused. The body of a chat holds its past, so it grows until a front end sends less of it. */
export function tooLarge(path: string, bodyBytes: number): Problem {
  const isChat = /^\/(ai-sdk|ag-ui)\//.test(path);
  const remedy = isChat ? ': send only the last message of the chat, and no results of tools' : '';
  return { code: 'too_large', message: `A body has at most ${bodyBytes} bytes${remedy}.` };
}
