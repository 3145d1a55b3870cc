import type { SchemaFormat } from './openai-chat.ts';
import { identifier, pieces, type GivenTurn, type WireEvent } from './wire-protocol.ts';

// The shapes are those of https://platform.openai.com/docs/api-reference/responses/object and
// https://platform.openai.com/docs/api-reference/responses-streaming.

export interface SentItem {
  type?: string;
  role?: string;
  id?: string;
  call_id?: string;
  name?: string;
  arguments?: string;
  encrypted_content?: string | null;
  status?: string;
  summary?: object[];
  content?: unknown;
}

export interface Body {
  input: SentItem[];
  store?: boolean;
  include?: string[];
  stream?: boolean;
  text?: { format?: { type: string } & Partial<SchemaFormat> };
}

export interface OutputItem extends SentItem {
  type: string;
  id: string;
}

export const reasoningId = (turn: number): string => `rs_${identifier(`reasoning ${turn}`, 40)}`;
export const messageId = (turn: number): string => `msg_${identifier(`message ${turn}`, 40)}`;
export const functionId = (turn: number, index: number): string => `fc_${identifier(`function ${turn} ${index}`, 40)}`;

/** The items that the server gave. A client gets the reasoning itself, encrypted, if it asks for it. */
export function outputOf({ number, reasoning, text, calls, signature, request }: GivenTurn): OutputItem[] {
  const isEncrypted = (request as Body).include?.includes('reasoning.encrypted_content') === true;
  const summary = [{ type: 'summary_text', text: reasoning }];
  const encrypted = isEncrypted ? { encrypted_content: signature! } : {};
  const content = [{ type: 'output_text', text, annotations: [] }];
  return [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning', id: reasoningId(number), summary, ...encrypted }]),
    ...(text === ''
      ? []
      : [{ type: 'message', id: messageId(number), status: 'completed', role: 'assistant', content }]),
    ...calls.map(({ id, name, args }, index) => ({
      type: 'function_call',
      id: functionId(number, index),
      status: 'completed',
      call_id: id!,
      name,
      arguments: JSON.stringify(args),
    })),
  ];
}

function statusOf({ finish }: GivenTurn): 'completed' | 'incomplete' {
  return finish === undefined ? 'completed' : 'incomplete';
}

export function responseOf(turn: GivenTurn): object {
  return response(turn, statusOf(turn), outputOf(turn));
}

function response({ number, finish }: GivenTurn, status: string, output: readonly object[]): object {
  const reason = finish === 'length' ? 'max_output_tokens' : 'content_filter';
  return {
    id: `resp_${identifier(`response ${number}`, 40)}`,
    object: 'response',
    created_at: 1_700_000_000,
    status,
    model: 'wire',
    output,
    incomplete_details: status === 'incomplete' ? { reason } : null,
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  };
}

export function responseEvents(turn: GivenTurn): WireEvent[] {
  const output = outputOf(turn);
  const status = statusOf(turn);
  return [
    { type: 'response.created', response: response(turn, 'in_progress', []) },
    { type: 'response.in_progress', response: response(turn, 'in_progress', []) },
    ...output.flatMap((item, at) => [
      { type: 'response.output_item.added', output_index: at, item: emptied(item) },
      ...deltasOf(item, turn).map((event) => ({ item_id: item.id, output_index: at, ...event })),
      { type: 'response.output_item.done', output_index: at, item },
    ]),
    { type: `response.${status}`, response: response(turn, status, output) },
  ].map((data, index) => ({ event: data.type, data: { ...data, sequence_number: index } }));
}

/** An item as its first event has it. The encrypted reasoning there is not the whole, and not accepted later. */
function emptied(item: OutputItem): object {
  if (item.type === 'message') return { ...item, status: 'in_progress', content: [] };
  if (item.type === 'function_call') return { ...item, status: 'in_progress', arguments: '' };
  const { encrypted_content: content } = item;
  return { ...item, summary: [], ...(typeof content === 'string' ? { encrypted_content: content.slice(0, 20) } : {}) };
}

function deltasOf(item: OutputItem, { reasoning, text }: GivenTurn): { type: string; [field: string]: unknown }[] {
  if (item.type === 'message') {
    const type = 'response.output_text.delta';
    return pieces(text).map((delta) => ({ type, content_index: 0, delta }));
  }
  if (item.type === 'function_call') {
    const type = 'response.function_call_arguments.delta';
    return pieces(item.arguments!).map((delta) => ({ type, delta }));
  }
  const type = 'response.reasoning_summary_text.delta';
  return [
    { type: 'response.reasoning_summary_part.added', summary_index: 0, part: { type: 'summary_text', text: '' } },
    ...pieces(reasoning!).map((delta) => ({ type, summary_index: 0, delta })),
    { type: 'response.reasoning_summary_part.done', summary_index: 0, part: { type: 'summary_text', text: reasoning } },
  ];
}
