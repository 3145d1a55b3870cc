import { isObject, kindOf } from './json.ts';
import type { Problem } from './problem.ts';
import { storedLimits } from './size-limits.ts';
import { isWellFormed } from './text.ts';

/** A file of a message: its bytes, or an address that only the model's provider reads. */
export interface UserFile {
  /** The media type, such as `image/png`: in lower case, and without parameters. */
  mediaType: string;
  /** `data:TYPE;base64,DATA` of this type, or an https address of at most 2,000 characters. */
  url: string;
  /** 1 to 200 characters. */
  filename?: string;
  /** The file stands after this many UTF-16 code units of `content`. Default 0: before the text. */
  at?: number;
}

/** The files that an agent accepts. */
export interface TakenFiles {
  /** Media types, such as `image/png`. */
  types: readonly string[];
  /** The most bytes of one file that is sent as data. */
  maxBytes: number;
  /** The most files of one message. */
  maxFiles: number;
  /** Hosts of addresses: `files.example.com`, `*.example.com` for those below it, or `*`. */
  hosts: readonly string[];
}

/** What people see of a file: never its bytes. */
export interface ShownFile {
  mediaType: string;
  /** The size of a file that was sent as data. */
  bytes?: number;
  /** The host of a file that was sent as an address. */
  host?: string;
  filename?: string;
}

export const mostFiles = 20;
const longestAddress = 2_000;
const longestName = 200;
const members = ['mediaType', 'url', 'filename', 'at'];
const mediaTypeShape = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,99}$/;
/** An https address without a user name, an IPv6 literal or a blank. */
const addressShape = /^https:\/\/([a-z0-9.-]{1,253})(?::[0-9]{1,5})?(?:[/?#][!-~]*)?$/i;

export function isMediaType(value: unknown): value is string {
  return typeof value === 'string' && mediaTypeShape.test(value);
}

/** The files of a message whose text is `content`, or the first problem. All lengths are checked before any data. */
export function readUserFiles(value: unknown, content: string): { files: UserFile[] } | { problem: Problem } {
  if (!Array.isArray(value)) return invalid(`'files' must be a list, not ${kindOf(value)}`);
  if (value.length === 0 || value.length > mostFiles) return invalid(`'files' must have 1 to ${mostFiles} files`);
  const files: UserFile[] = [];
  for (const [index, each] of (value as unknown[]).entries()) {
    const problem = shapeProblem(each, content, files.at(-1)?.at ?? 0);
    if (problem !== undefined) return invalid(`'files.${index}' ${problem}`);
    files.push(each as UserFile);
  }
  // Only `isBase64` reads the data itself, so the total size is checked before it.
  const bytes = totalBytes(files);
  if (bytes > storedLimits.fileBytes)
    return tooLarge(`the files have ${sizeText(bytes)} in all`, storedLimits.fileBytes);
  const place = files.findIndex(({ mediaType, url }) => !isBase64(mediaType, url));
  return place === -1 ? { files } : invalid(`'files.${place}.url' is no base64: each four characters are three bytes`);
}

/** What is wrong with a file, as a clause, except in its data. `least`: the `at` of the file before this one. */
function shapeProblem(value: unknown, content: string, least: number): string | undefined {
  if (!isObject(value)) return `must be an object, not ${kindOf(value)}`;
  const unknown = Object.keys(value).find((key) => !members.includes(key));
  if (unknown !== undefined) return `has an unknown field '${unknown.slice(0, 40)}'`;
  const { mediaType, url, filename, at = 0 } = value;
  if (!isMediaType(mediaType)) return `needs 'mediaType', such as image/png: lower case, without parameters`;
  if (typeof url !== 'string') return `needs 'url': a data URL, or an https address`;
  const bytes = bytesOf(mediaType, url);
  if (bytes === 0) return `has no data`;
  if (bytes === undefined && hostOf(url) === undefined) {
    return `needs a 'url' that begins with data:${mediaType};base64, or is an https address of at most ${longestAddress} visible characters without a user name`;
  }
  if (filename !== undefined && !isName(filename)) {
    return `has a 'filename' that is not text of 1 to ${longestName} characters`;
  }
  const isPlace = Number.isInteger(at) && (at as number) >= least && (at as number) <= content.length;
  // A file must not stand inside a surrogate pair.
  if (isPlace && !/^[\udc00-\udfff]/.test(content.slice(at as number, (at as number) + 1))) return undefined;
  return `has an 'at' that is no place in 'content' after the files before it`;
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.length <= longestName && isWellFormed(value);
}

/** Why an agent does not take these files. `taken`: what it takes, if any. `fileBytes`: the limit of one message. */
export function filesProblem(
  files: readonly UserFile[],
  agent: string,
  taken: TakenFiles | undefined,
  fileBytes: number,
): Problem | undefined {
  if (files.length === 0) return undefined;
  if (taken === undefined) {
    return invalid(`agent '${agent}' takes no files and pictures: send text, or declare its 'files'`).problem;
  }
  if (files.length > taken.maxFiles) {
    return invalid(`agent '${agent}' takes at most ${taken.maxFiles} files in one message`).problem;
  }
  for (const file of files) {
    const problem = fileProblem(file, agent, taken);
    if (problem !== undefined) return problem;
  }
  const sum = totalBytes(files);
  return sum > fileBytes ? tooLarge(`the files of one message have ${sizeText(sum)}`, fileBytes).problem : undefined;
}

/** Why an agent does not take one file: because of its type, its size, or for an address its host. */
function fileProblem({ mediaType, url }: UserFile, agent: string, taken: TakenFiles): Problem | undefined {
  const { types, maxBytes, hosts } = taken;
  if (!types.includes(mediaType)) {
    return invalid(`agent '${agent}' takes no ${mediaType}, only ${types.join(', ')}`).problem;
  }
  const bytes = bytesOf(mediaType, url);
  if (bytes === undefined && !isTakenHost(hostOf(url) ?? '', hosts)) {
    const remedy = hosts.length === 0 ? 'send the file itself' : `it takes those of ${hosts.join(', ')}`;
    return invalid(`agent '${agent}' takes no files from '${hostOf(url)}': ${remedy}`).problem;
  }
  if (bytes === undefined || bytes <= maxBytes) return undefined;
  return tooLarge(`a file of ${sizeText(bytes)} for agent '${agent}'`, maxBytes).problem;
}

/** The bytes of all files that were sent as data. */
function totalBytes(files: readonly UserFile[]): number {
  return files.reduce((sum, { mediaType, url }) => sum + (bytesOf(mediaType, url) ?? 0), 0);
}

function isTakenHost(host: string, hosts: readonly string[]): boolean {
  return hosts.some((each) => each === '*' || each === host || (each.startsWith('*.') && host.endsWith(each.slice(1))));
}

/** What people see of a file. Leaves out members of the wrong form, because the sender is not trusted. */
export function shownFile(value: unknown): ShownFile {
  const { mediaType, url, filename } = isObject(value) ? value : {};
  const type = isMediaType(mediaType) ? mediaType : 'unknown type';
  const bytes = typeof url === 'string' ? bytesOf(type, url) : undefined;
  const host = typeof url === 'string' ? hostOf(url) : undefined;
  return {
    mediaType: type,
    ...(bytes !== undefined && { bytes }),
    ...(host !== undefined && { host }),
    ...(typeof filename === 'string' && { filename: filename.slice(0, longestName) }),
  };
}

/** The files in a line, such as `1 picture (image/png, 34 kB, "cat.png")`; empty without files. Omits a size of 0. */
export function filesText(files: readonly ShownFile[]): string {
  if (files.length === 0) return '';
  const noun = files.every(({ mediaType }) => mediaType.startsWith('image/')) ? 'picture' : 'file';
  const each = files.map(({ mediaType, bytes, host, filename }) =>
    [
      mediaType,
      ...(bytes === undefined || bytes === 0 ? [] : [sizeText(bytes)]),
      ...(host === undefined ? [] : [`from ${host}`]),
      ...(filename === undefined ? [] : [JSON.stringify(filename)]),
    ].join(', '),
  );
  return `${files.length} ${noun}${files.length === 1 ? '' : 's'} (${each.join('; ')})`;
}

/** A message as people read it: its text, and one line about its files. */
export function saidText({ content, files = [] }: { content: string; files?: readonly unknown[] }): string {
  return toldText(content, files.slice(0, mostFiles).map(shownFile));
}

/** The same text as `saidText`, for a caller that has only what people see of the files. */
export function toldText(content: string, files: readonly ShownFile[]): string {
  if (files.length === 0) return content;
  const filesLine = `[${filesText(files)}]`;
  return content.trim() === '' ? filesLine : `${content}\n${filesLine}`;
}

/** The base64 of a file that was sent as data; undefined for an address. */
export function dataOf({ mediaType, url }: UserFile): string | undefined {
  const start = startOfData(mediaType);
  return url.startsWith(start) ? url.slice(start.length) : undefined;
}

/** The file without its bytes. A file that is an address stays unchanged. */
export function withoutData(file: UserFile): UserFile {
  return dataOf(file) === undefined ? file : { ...file, url: startOfData(file.mediaType) };
}

function startOfData(mediaType: string): string {
  return `data:${mediaType};base64,`;
}

/** The bytes of a file, by the length of its base64; undefined if the URL holds no data of this type. */
function bytesOf(mediaType: string, url: string): number | undefined {
  const start = startOfData(mediaType);
  if (!url.startsWith(start)) return undefined;
  const padding = Number(url.endsWith('=')) + Number(url.endsWith('=='));
  return Math.max(0, Math.floor(((url.length - start.length) * 3) / 4) - padding);
}

/** False for bad base64, because some providers would take it for the id of one of their files. True for an address. */
function isBase64(mediaType: string, url: string): boolean {
  const data = dataOf({ mediaType, url });
  if (data === undefined) return true;
  return data.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(data.replace(/={1,2}$/, ''));
}

/** The host of an https address, in lower case; undefined for any other text. */
function hostOf(url: string): string | undefined {
  return url.length > longestAddress ? undefined : addressShape.exec(url)?.[1]!.toLowerCase();
}

/** A size in bytes, kB or MB of 1,000, rounded up. */
function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${Math.ceil(bytes / 100_000) / 10} MB`;
}

function tooLarge(what: string, most: number): { problem: Problem } {
  return { problem: { code: 'too_large', message: `${what}; at most ${sizeText(most)}` } };
}

function invalid(message: string): { problem: Problem } {
  return { problem: { code: 'invalid_message', message } };
}
