/** Which files each interface takes, and how they are written in the message of a user. */

// The rules are those of
// https://platform.claude.com/docs/en/build-with-claude/vision and /pdf-support,
// https://ai.google.dev/api/caching#Part and https://ai.google.dev/gemini-api/docs/openai,
// https://docs.mistral.ai/capabilities/vision and /document_ai,
// https://platform.openai.com/docs/guides/images-vision and /pdf-files, and https://api-docs.deepseek.com.

interface Part {
  type?: string;
  [member: string]: unknown;
}

const picture = /^image\/(?:png|jpeg|gif|webp)$/;
const pdf = /^application\/pdf$/;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function isBase64(data: unknown): boolean {
  return typeof data === 'string' && data !== '' && base64.test(data);
}

function isDataUrl(url: unknown, type: RegExp): boolean {
  const [, mediaType, data] = typeof url === 'string' ? (/^data:([^;,]*);base64,(.*)$/s.exec(url) ?? []) : [];
  return mediaType !== undefined && type.test(mediaType) && isBase64(data);
}

function isAddress(url: unknown): boolean {
  return typeof url === 'string' && url.startsWith('https://');
}

/** Blocks `image` and `document` of the Messages API. */
export function* anthropicFiles(where: string, blocks: readonly Part[]): Iterable<string> {
  for (const [index, { type, source }] of blocks.entries()) {
    if (type !== 'image' && type !== 'document') continue;
    const { type: kind, media_type: mediaType, data, url } = source as Record<string, unknown>;
    const types = type === 'image' ? picture : pdf;
    const isSound =
      kind === 'url' ? isAddress(url) : kind === 'base64' && types.test(String(mediaType)) && isBase64(data);
    if (!isSound) yield `${where}.content.${index}.${type}.source: Input is no ${type}`;
  }
}

/** Parts `image_url` and `file` of chat completions. `takes`: what else than text the server knows. */
export function* chatFiles(
  at: number,
  content: unknown,
  takes: { addresses?: boolean; documents?: boolean } | 'text',
): Iterable<string> {
  if (!Array.isArray(content)) return;
  for (const { type = '', image_url: image, file } of content as Part[]) {
    if (type === 'text') continue;
    if (takes === 'text') {
      yield `Failed to deserialize the JSON body into the target type: messages[${at}]: unknown variant \`${type}\`, expected \`text\``;
    } else if (type === 'image_url') {
      const { url } = image as { url?: unknown };
      const isSound = isDataUrl(url, picture) || (takes.addresses === true && isAddress(url));
      if (!isSound) yield `Invalid 'messages[${at}].content': the image_url cannot be read.`;
    } else if (type === 'file' && takes.documents === true) {
      const { filename, file_data: data } = file as { filename?: unknown; file_data?: unknown };
      if (typeof filename !== 'string' || !isDataUrl(data, pdf)) yield `Invalid 'messages[${at}].content': no PDF.`;
    } else yield `Invalid value: '${type}' at 'messages[${at}].content'.`;
  }
}

/** Parts `input_image` and `input_file` of the Responses API. */
export function* responsesFiles(at: number, content: unknown): Iterable<string> {
  if (!Array.isArray(content)) return;
  for (const part of content as Part[]) {
    const { type, image_url: image, filename, file_data: data, file_url: url } = part;
    if ('file_id' in part) yield `Files cannot be found: ${String(part['file_id'])}`;
    if (type === 'input_image' && !isDataUrl(image, picture) && !isAddress(image)) {
      yield `Invalid 'input[${at}].content': Expected a base64-encoded data URL with an image MIME type.`;
    }
    const isFile = isAddress(url) || (typeof filename === 'string' && isDataUrl(data, pdf));
    if (type === 'input_file' && !isFile) yield `Invalid 'input[${at}].content': Expected a PDF.`;
  }
}

/** Parts with `inlineData` and `fileData` of Gemini's own API. */
export function* googleFiles(parts: readonly object[]): Iterable<string> {
  for (const part of parts as Part[]) {
    const { inlineData, fileData } = part as Record<string, { mimeType?: string; data?: unknown; fileUri?: unknown }>;
    const { mimeType = '' } = inlineData ?? fileData ?? {};
    if (inlineData !== undefined && !isBase64(inlineData.data)) yield 'Base64 decoding failed for inlineData.data';
    if (fileData !== undefined && !isAddress(fileData.fileUri)) yield 'Invalid or unsupported file uri.';
    const isFile = inlineData !== undefined || fileData !== undefined;
    if (isFile && !picture.test(mimeType) && !pdf.test(mimeType)) yield `Unsupported MIME type: ${mimeType}`;
  }
}

/** Parts `image_url` and `document_url` of Mistral, whose URLs are plain texts. */
export function* mistralFiles(content: unknown): Iterable<string> {
  if (!Array.isArray(content)) return;
  for (const { type, image_url: image, document_url: document } of content as Part[]) {
    if (type === 'image_url' && !isDataUrl(image, picture) && !isAddress(image)) yield 'Image, could not be loaded';
    if (type === 'document_url' && !isDataUrl(document, pdf) && !isAddress(document)) yield 'Document, no PDF';
  }
}
