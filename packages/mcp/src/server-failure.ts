import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client';

/**
 * Why a server cannot be used, in a few words for logs and models. It holds nothing that the server, a library or the system
 * wrote, because that may quote an address, a header or an environment variable.
 */
export function serverFailure(error: unknown): string {
  if (ProtocolError.isInstance(error)) return `it answered with error ${error.code}`;
  if (error instanceof UnauthorizedError) return 'it refuses the token (HTTP 401)';
  if (SdkHttpError.isInstance(error)) return `it answered with HTTP ${error.status}`;
  if (SdkError.isInstance(error)) {
    switch (error.code) {
      case SdkErrorCode.RequestTimeout:
        return 'it did not answer in time';
      case SdkErrorCode.ConnectionClosed:
      case SdkErrorCode.NotConnected:
        return 'the connection to it has ended';
      case SdkErrorCode.InvalidResult:
        return 'its answer is no valid MCP';
      case SdkErrorCode.ListPaginationExceeded:
        return 'its list of tools has no end';
      default:
        return `its connection failed (${error.code})`;
    }
  }
  const code = systemCode(error);
  return code === undefined ? 'it cannot be reached' : `it cannot be reached (${code})`;
}

/** Such as `ENOENT` for a program that is not there, or `ECONNREFUSED`. */
function systemCode(error: unknown): string | undefined {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  return [code, cause?.code].find((each): each is string => typeof each === 'string' && /^[A-Z_]{1,40}$/.test(each));
}
