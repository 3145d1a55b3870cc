import type { Json } from 'countersign';
import { isObject } from 'countersign/base';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client';
import { createHash } from 'node:crypto';

/**
 * Converts a result to its structured content or, without any, to text. A result with structured content and, for
 * example, an image is converted to both. In text, one line describes an image and the like.
 */
export function toolResult({ content, structuredContent }: CallToolResult): Json {
  const text = resultText(content);
  if (structuredContent === undefined) return text;
  // For older clients, servers repeat the structured content as text: such text adds nothing, and is dropped.
  const isRepeated = content.every(({ type }) => type === 'text');
  return isRepeated ? (structuredContent as Json) : { structuredContent: structuredContent as Json, content: text };
}

export function resultText(content: readonly ContentBlock[]): string {
  return content.map(blockText).join('\n');
}

/** Converts a part of a result to text for the model. Leaves out data such as an image, and only names it. */
function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return leftOut(block.type, block.mimeType, block.data);
    case 'resource_link':
      return `[link: ${block.uri} ${block.title ?? block.name}]`;
    case 'resource': {
      const { resource } = block;
      const mimeType = resource.mimeType ?? 'unknown type';
      return 'text' in resource
        ? `[resource: ${resource.uri}]\n${resource.text}`
        : leftOut(`resource ${resource.uri}`, mimeType, resource.blob);
    }
    default:
      block satisfies never;
      return isObject(block) ? '[content of an unknown type]' : '';
  }
}

function leftOut(what: string, mimeType: string, base64: string): string {
  return `[${what}: ${mimeType}, ${Buffer.byteLength(base64, 'base64')} bytes, not passed on]`;
}

const longestName = 64;
const hashDigits = 8;

/** Returns `SERVER__TOOL`, with `_` for characters that names cannot have. A digest shortens a long name. */
export function toolName(server: string, tool: string): string {
  const name = `${server}__${tool.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`;
  if (name.length <= longestName) return name;
  const hash = createHash('sha256').update(tool).digest('hex').slice(0, hashDigits);
  return `${name.slice(0, longestName - hashDigits - 1)}_${hash}`;
}

/** Describes a failure in a few words of its own: the error's text may quote an address, a header or a variable. */
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

/** Returns the system's code of an error, such as `ENOENT` for a missing program, or `ECONNREFUSED`. */
function systemCode(error: unknown): string | undefined {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  return [code, cause?.code].find((each): each is string => typeof each === 'string' && /^[A-Z_]{1,40}$/.test(each));
}
