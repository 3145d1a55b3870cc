import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

const statuses: Readonly<Record<string, [status: number, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The address and the headers of a request have at most 16 kB.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
};

/**
 * Answers a request that Node's HTTP server could not parse (`clientError`): one that is malformed, too large or too slow.
 * Responds with a problem and closes the connection.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  // The sender has gone, or a response has begun.
  if (error.code === 'ECONNRESET' || !socket.writable || ('bytesWritten' in socket && socket.bytesWritten !== 0)) {
    socket.destroy();
    return;
  }
  const [status, detail] = statuses[error.code ?? ''] ?? [400, 'This is not an HTTP request.'];
  const title = STATUS_CODES[status]!;
  const body = JSON.stringify({ type: 'about:blank', title, status, detail });
  socket.end(
    [
      `HTTP/1.1 ${status} ${title}`,
      'content-type: application/problem+json',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
