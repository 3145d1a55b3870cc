import type { Json } from 'countersign';
import { isObject } from 'countersign/base';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';

/**
 * What the model gets of a server's answer: the text, or the structured content if beside it is nothing but its text. Of
 * pictures, sounds and other data, it gets a line that says what they are, because a tool's result is text.
 */
export function toolResult({ content, structuredContent }: CallToolResult): Json {
  const text = resultText(content);
  if (structuredContent === undefined) return text;
  // Servers give it as text, too, for clients that know nothing else.
  const isWhole = content.every(({ type }) => type === 'text');
  return isWhole ? (structuredContent as Json) : { structuredContent: structuredContent as Json, content: text };
}

/** All content as text. */
export function resultText(content: readonly ContentBlock[]): string {
  return content.map(blockText).join('\n');
}

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
