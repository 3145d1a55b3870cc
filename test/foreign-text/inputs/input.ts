import type { Json, JsonObject } from '../../../src/core/base/tool-call.ts';

/** Calls a function with a text, in a place where a stranger can put one. */
export type Run = (text: string) => unknown;

/** How a function is measured. */
export type Input =
  | Run
  | readonly Run[]
  | {
      runs: readonly Run[];
      /** Longer texts are refused unread, so texts of this length are tried. */
      most?: number;
      /** In how many places it writes the text: so many times as long it may take. Default 1. */
      places?: number;
    };

export type Inputs = Readonly<Record<string, Input>>;

/** Values that are made of a text: one long text, many short ones, many keys, many members. */
const shapes: readonly ((text: string) => JsonObject)[] = [
  (text) => ({ to: escapable(text) }),
  (text) => ({ list: pieces(escapable(text)) }),
  (text) =>
    Object.fromEntries(
      pieces(escapable(text.slice(0, text.length / 2))).map((piece, index) => [`${index}${piece}`, piece]),
    ),
  (text) => ({ list: pieces(escapable(text)).map((piece) => ({ [piece]: piece.length })) }),
];

/** The same function, called with each of these shapes. */
export function objects(call: (value: JsonObject) => unknown): Run[] {
  return shapes.map((shape) => (text) => call(shape(text)));
}

/** The same with any JSON, also a bare text and a list of lists. */
export function values(call: (value: Json) => unknown): Run[] {
  return [(text) => call(text), (text) => call(pieces(text)), ...objects(call)];
}

/** JSON texts that hold the text: as it is, as a number, as a string, as the digits after others. */
export function documents(call: Run): Run[] {
  return [
    call,
    (text) => call(`{"x":${text}}`),
    (text) => call(`{"x":${JSON.stringify(escapable(text))}}`),
    (text) =>
      call(`{${JSON.stringify(escapable(text.slice(0, text.length / 2)))}:1,"y":"${text.slice(0, text.length / 2)}"}`),
    (text) => call(`{"x":9007199254740993.${text}1}`),
    // As deep as it is long, with a text at each level.
    (text) => call(`${'['.repeat(text.length / 6 + 1)}1${'],"a"'.repeat(text.length / 6)}]`),
    (text) => call(`{"x":0.${text.slice(0, text.length / 2)}1e-${text.slice(0, text.length / 2)}}`),
  ];
}

/** A third of a text, with one character in its middle that the text does not have there. */
export function almostWithin(text: string): string {
  const half = text.slice(0, text.length / 6);
  return `${half}\u00a1${half}`;
}

/** So much of a text that its JSON is as long as it. */
export function escapable(text: string): string {
  return text.slice(0, (text.length * text.length) / JSON.stringify(text).length);
}

/** Parts of fifty UTF-16 units. */
export function pieces(text: string): string[] {
  return Array.from({ length: Math.ceil(text.length / 50) }, (_, index) => text.slice(index * 50, index * 50 + 50));
}
