import { Composer, isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, Parser, type CST, type Node } from 'yaml';
import type { Json } from '../core/base/tool-call.ts';

export interface Place {
  /** The line and the column, both from 1. */
  line: number;
  column: number;
}

/** A policy file that was read. `placeOf` returns the place of a value or, with `'key'`, the place of its key. */
export interface PolicyText {
  value: Json;
  placeOf: (path: readonly PropertyKey[], part?: 'key' | 'value') => Place;
}

export type TextProblem = Place & { message: string };

/** Maximum nesting of a policy document. The YAML parser recurses, and a stack overflow can end the process. */
export const maxDocumentDepth = 50;
const longestText = 1_000_000;

/** Reads one document of YAML 1.2 or JSON without anchors, tags and repeated keys. `kind`: its name. Never throws. */
export function readPolicyText(text: string, kind = 'policy'): PolicyText | { problems: TextProblem[] } {
  const lines = new LineCounter();
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const refuse = (offset: number, message: string) => ({ problems: [{ ...place(offset), message }] });

  lines.addNewLine(0);
  if (text.length > longestText) return refuse(0, `the text has more than ${longestText} characters`);
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme));
    // Each level of a document puts at most two tokens on the stack.
    if (parser.stack.length > 2 * maxDocumentDepth) {
      return refuse(parser.offset, `the text is nested more than ${maxDocumentDepth} levels deep`);
    }
  }
  tokens.push(...parser.end());

  const composer = new Composer({ version: '1.2', merge: false, prettyErrors: false, strict: true, uniqueKeys: false });
  const [document, second] = composer.compose(tokens, true, text.length);
  if (document === undefined) return refuse(0, 'the text holds no document');
  const [syntax] = [...document.errors, ...document.warnings];
  if (syntax?.code === 'BAD_ALIAS') {
    const remedy = 'put a text that begins with * or & in quotes';
    return refuse(syntax.pos[0], `anchors and aliases are not part of ${withArticle(kind)}: ${remedy}`);
  }
  if (syntax !== undefined) return refuse(syntax.pos[0], `the text is not YAML 1.2: ${syntax.message}`);
  if (document.directives.yaml.version !== '1.2') return refuse(0, 'the text must be YAML 1.2: remove its %YAML line');
  if (second !== undefined)
    return refuse(second.range[0], `the text holds a second document: write one ${kind} a file`);

  const { contents } = document;
  const problems: Misplaced[] = [];
  const value = readNode(contents, problems, kind);
  if (problems.length > 0) return { problems: problems.map(({ offset, message }) => ({ ...place(offset), message })) };
  return { value, placeOf: (path, part = 'value') => place(offsetAt(contents, path, part) ?? 0) };
}

interface Misplaced {
  offset: number;
  message: string;
}

function withArticle(kind: string): string {
  return /^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`;
}

/** The JSON value of a node. For what JSON lacks, adds a problem and returns null. `kind`: the document in words. */
function readNode(node: Node | null, problems: Misplaced[], kind: string, offsetOfKey?: number): Json {
  // An empty value has the place of its key.
  const offset = node?.range?.[0] ?? offsetOfKey ?? 0;
  const refuse = (message: string): null => {
    problems.push({ offset, message });
    return null;
  };
  if (node === null) return null;
  if (isAlias(node) || ('anchor' in node && node.anchor !== undefined)) {
    return refuse(
      `anchors and aliases are not part of ${withArticle(kind)}: write the value out, a text that begins with * in quotes`,
    );
  }
  if (node.tag !== undefined) return refuse(`tags such as ${node.tag} are not part of ${withArticle(kind)}`);
  if (isScalar(node)) {
    const { value } = node;
    if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
    return typeof value === 'number' && Number.isFinite(value) ? value : refuse('this is not a value of JSON');
  }
  if (isSeq<Node>(node)) return node.items.map((item) => readNode(item, problems, kind));
  if (!isMap<Node, Node | null>(node)) return refuse('this is not a value of JSON');
  const entries = new Map<string, Json>();
  for (const { key: keyNode, value } of node.items) {
    const keyOffset = keyNode.range?.[0] ?? offset;
    if (!isScalar(keyNode) || typeof keyNode.value !== 'string') {
      problems.push({ offset: keyOffset, message: 'a key must be a text' });
    } else if (entries.has(keyNode.value)) {
      problems.push({ offset: keyOffset, message: `the key '${keyNode.value}' appears twice` });
    } else {
      entries.set(keyNode.value, readNode(value, problems, kind, keyOffset));
    }
  }
  // An assignment `object[key] = …` would set the prototype if the key is `__proto__`.
  return Object.fromEntries(entries);
}

/** The offset of the value at a path, or of its key, also if the value is empty; undefined without such a path. */
function offsetAt(contents: Node | null, path: readonly PropertyKey[], part: 'key' | 'value'): number | undefined {
  let node = contents;
  let key: number | undefined;
  for (const step of path) {
    if (isSeq<Node>(node)) {
      node = node.items[Number(step)] ?? null;
      key = undefined;
    } else {
      const pair = isMap<Node, Node | null>(node)
        ? node.items.find((each) => isScalar(each.key) && each.key.value === step)
        : undefined;
      if (pair === undefined) return undefined;
      node = pair.value;
      key = pair.key.range?.[0];
    }
  }
  return (part === 'key' ? key : undefined) ?? node?.range?.[0] ?? key;
}

/** The text of a file, or the remedy and the place of the first bytes that are not UTF-8; for UTF-16, the first. */
export function decodeUtf8(bytes: Uint8Array): { text: string } | { line: number; column: number; message: string } {
  const utf16 =
    bytes.length >= 2 && (bytes[0] === 0xff || bytes[0] === 0xfe) && (bytes[1] === 0xff || bytes[1] === 0xfe);
  if (utf16) return { line: 1, column: 1, message: `the file is UTF-16: ${remedy}` };
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    return { text: decoder.decode(bytes) };
  } catch {
    const good = goodLength(bytes);
    const lines = new TextDecoder().decode(bytes.subarray(0, good)).split('\n');
    const byte = bytes[good]!.toString(16).toUpperCase().padStart(2, '0');
    return {
      line: lines.length,
      column: lines.at(-1)!.length + 1,
      message: `the byte 0x${byte} is not UTF-8: ${remedy}`,
    };
  }
}

const remedy = 'save the file as UTF-8';

/** The length of the longest valid prefix, found by halving. A prefix may end within a character while it searches. */
function goodLength(bytes: Uint8Array): number {
  let [good, bad] = [0, bytes.length];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (isGood(bytes.subarray(0, middle))) good = middle;
    else bad = middle;
  }
  // The last character of the prefix may be incomplete, so shorten it by up to three bytes.
  for (let whole = good; whole >= Math.max(0, good - 3); whole -= 1)
    if (isGood(bytes.subarray(0, whole), false)) return whole;
  return good;
}

/** True if the bytes are valid UTF-8. `isStart`: they may end within a character. */
function isGood(bytes: Uint8Array, isStart = true): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isStart });
    return true;
  } catch {
    return false;
  }
}
