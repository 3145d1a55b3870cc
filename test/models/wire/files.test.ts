import { describe, expect, test } from 'vitest';
import { UnsupportedFunctionalityError } from '@ai-sdk/provider';
import { leftOutFiles, refusedFiles, toPrompt } from '../../../src/models/to-prompt.ts';
import { askModel } from '../../../src/models/ask-model.ts';
import { toModelFailure } from '../../../src/models/model-failure.ts';
import type { KeptMessage } from '../../../src/contract/provider-turn.ts';
import type { UserFile } from '../../../src/contract.ts';
import { wireServersOfTests } from './started-servers.ts';
import { wireFormats, type WireFormat, type WireServer } from './wire-server.ts';

/** Files of a user reach each provider as its own rules want them, in their order. */

const start = wireServersOfTests();

const base64 = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const png: UserFile = { mediaType: 'image/png', url: `data:image/png;base64,${base64}`, filename: 'cat.png' };
const pdf: UserFile = { mediaType: 'application/pdf', url: 'data:application/pdf;base64,JVBERi0x', filename: 'a.pdf' };
const address: UserFile = { mediaType: 'image/png', url: 'https://files.example.com/cat.png' };
const files = { types: ['image/png', 'application/pdf'], maxBytes: 1_000, maxFiles: 9, hosts: ['*'] };

async function ask({ model }: WireServer, said: Omit<Extract<KeptMessage, { role: 'user' }>, 'role'>): Promise<void> {
  const whyNot = await leftOutFiles({ name: 'a', files, model });
  const prompt = toPrompt('Be brief.', [{ role: 'user', ...said }], model.provider, whyNot);
  await askModel(model, { prompt }, new AbortController().signal, { streaming: 'off' });
}

/** What the provider got in the place of a file. */
const shapes: Record<WireFormat, Partial<Record<'png' | 'pdf' | 'address', object>>> = {
  anthropic: {
    png: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } },
    pdf: {
      type: 'document',
      title: 'a.pdf',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0x' },
    },
    address: { type: 'image', source: { type: 'url', url: address.url } },
  },
  google: {
    png: { inlineData: { mimeType: 'image/png', data: base64 } },
    pdf: { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0x' } },
    address: { fileData: { mimeType: 'image/png', fileUri: address.url } },
  },
  mistral: {
    png: { type: 'image_url', image_url: png.url },
    pdf: { type: 'document_url', document_url: pdf.url },
  },
  'openai-chat': {
    png: { type: 'image_url', image_url: { url: png.url } },
    pdf: { type: 'file', file: { filename: 'a.pdf', file_data: pdf.url } },
    address: { type: 'image_url', image_url: { url: address.url } },
  },
  'openai-responses': {
    png: { type: 'input_image', image_url: png.url },
    pdf: { type: 'input_file', filename: 'a.pdf', file_data: pdf.url },
    address: { type: 'input_image', image_url: address.url },
  },
  deepseek: {},
  'gemini-openai': { png: { type: 'image_url', image_url: { url: png.url } } },
};

const sent = { png, pdf, address };
const cases = wireFormats.flatMap((format) =>
  (['png', 'pdf', 'address'] as const).flatMap((kind) => {
    const shape = shapes[format][kind];
    return shape === undefined ? [] : [{ format, kind, shape }];
  }),
);

describe('a file between two texts, and alone', () => {
  test.each(cases)('$format: $kind', async ({ format, kind, shape }) => {
    const server = await start(format, [{ text: 'A cat.' }, { text: 'A cat.' }]);
    await ask(server, { content: 'This? And that?', files: [{ ...sent[kind], at: 6 }] });
    await ask(server, { content: ' ', files: [sent[kind]] });
    expect(server.refusals).toEqual([]);
    const [between, alone] = server.requests.map((request) => partsOfUser(request));
    expect(between).toEqual([expect.anything(), expect.objectContaining(shape), expect.anything()]);
    expect(JSON.stringify([between![0], between![2]])).toMatch(/This\? .* ?And that\?/);
    expect(alone).toEqual([expect.objectContaining(shape)]);
  });
});

/** The content of the last message. */
function partsOfUser(request: unknown): unknown[] {
  const { messages, contents, input } = request as Record<string, { content?: unknown[]; parts?: unknown[] }[]>;
  const { content, parts } = (messages ?? contents ?? input)!.at(-1)!;
  return (content ?? parts)!;
}

const refused = async (asked: Promise<void>, file: UserFile): Promise<string | undefined> => {
  const error: unknown = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return refusedFiles(error, toModelFailure(error, 0), [file]);
};

test('a server that takes no pictures refuses the input in one sentence', async () => {
  const server = await start('deepseek', [{ text: 'never' }]);
  const sentence = await refused(ask(server, { content: 'This?', files: [png] }), png);
  expect(sentence).toMatch(
    /^The input with 1 picture \(image\/png, \d+ B, "cat\.png"\) was refused, which may be more than the model takes: The model at 127\.0\.0\.1:\d+ refused the request \(400 invalid_request_error\): .*\.$/,
  );
  expect(server.refusals).toEqual([
    'Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text`',
  ]);
});

test('a compatible server that takes no documents refuses the input', async () => {
  const server = await start('gemini-openai', [{ text: 'never' }]);
  expect(await refused(ask(server, { content: 'This?', files: [pdf] }), pdf)).toMatch(/^The input with 1 file \(/);
  expect(server.refusals).toEqual([expect.stringContaining(`Invalid value: 'file'`)]);
});

test('what a client refuses to send is the input, too', async () => {
  const error = new UnsupportedFunctionalityError({ functionality: 'file part media type text/csv' });
  expect(refusedFiles(error, toModelFailure(error, 0), [pdf])).toBe(
    'The input with 1 file (application/pdf, 6 B, "a.pdf") was refused: the model takes no such file.',
  );
  expect(refusedFiles(error, toModelFailure(error, 0), [])).toBeUndefined();
});

test.each(['mistral', 'deepseek'] as const)('%s reads no such address', async (format) => {
  const { model } = await start(format, []);
  const whyNot = await leftOutFiles({ name: 'a', files, model });
  expect(whyNot({ ...address, mediaType: 'image/webp' })).toBe(`agent 'a' takes no image/webp`);
  expect(whyNot(address)).toBe('the model reads no image/png from this address');
});

test('what an agent does not take is said in its place, such as after a handover', () => {
  const [message] = toPrompt(
    '',
    [{ role: 'user', content: '', files: [png] }],
    'x',
    () => `agent 'b' takes no image/png`,
  );
  expect(message!.content).toEqual([
    { type: 'text', text: `[Left out: 1 picture (image/png, 70 B, "cat.png"): agent 'b' takes no image/png]` },
  ]);
});
