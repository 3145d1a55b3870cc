import { APICallError } from '@ai-sdk/provider';
import { idempotencyKeyOf } from '../../../packages/gateway/src/http/shapes/input-shapes.ts';
import { localPath, tokenPage } from '../../../packages/gateway/src/http/routes/identity.ts';
import { namesakesAmong, personName } from '../../../packages/gateway/src/http/identity/claims.ts';
import { findToken } from '../../../packages/gateway/src/http/identity/identity.ts';
import { saidMessage } from '../../../packages/gateway/src/http/chat/say.ts';
import { newestSession, parseAnswerId, turnOf } from '../../../packages/gateway/src/http/chat/chat-thread.ts';
import { linkProblemPage } from '../../../packages/gateway/src/http/links/link-page.ts';
import { wantsHtml } from '../../../packages/gateway/src/http/responses.ts';
import { isRole } from '../../../packages/gateway/src/http/identity/principal.ts';
import { refuseInput, strictIfJson, strictJson } from '../../../packages/gateway/src/http/shapes/define-route.ts';
import { isSamePushKey } from '../../../packages/gateway/src/inbox/state/same-push-key.ts';
import { senderAddress } from '../../../packages/gateway/src/http/server/limits.ts';
import { otherLoopbackName, ownOrigin, siteOf } from '../../../packages/gateway/src/http/site.ts';
import { sseFrame } from '../../../packages/gateway/src/http/streams/sse-stream.ts';
import { argumentSchema } from '../../../packages/mcp/src/argument-schema.ts';
import { listedTools } from '../../../packages/mcp/src/listed-tools.ts';
import { toolName, toolResult } from '../../../packages/mcp/src/tool-result.ts';
import { noticeContent } from '../../../src/adapters/email/mail-content.ts';
import { isAscii } from '../../../src/adapters/email/mail-server.ts';
import { outcomeNotice, waitingNotice } from '../../../src/channels/caller-notice.ts';
import { readThread } from '../../../src/adapters/email/mail-thread.ts';
import { sentenceOf, cutText, fillTemplate, fillText, memberOf } from '../../../src/adapters/on-call/template.ts';
import { readInteraction, readModal } from '../../../src/adapters/slack/interaction.ts';
import { blockOwner, readShown, readTexts } from '../../../src/adapters/slack/cards.ts';
import { postedMessage } from '../../../src/adapters/slack/post.ts';
import { isSignedBySlack } from '../../../src/adapters/slack/slack-api.ts';
import { askingMessage, callerMessage, settledMessage } from '../../../src/adapters/web-push/push-message.ts';
import { legacySignature, signingKeys, verify } from '../../../src/adapters/webhook/signature.ts';
import { readAnswer } from '../../../src/adapters/webhook/webhook-channel.ts';
import { askModel, refusesStreaming } from '../../../src/models/ask-model.ts';
import { toModelFailure, refusesRequest, retryAfterMs, unreadableAnswer } from '../../../src/models/model-failure.ts';
import { parseArguments, parseObject } from '../../../src/models/parse-object.ts';
import { quote } from '../../../src/models/quote.ts';
import { refusedFiles, toPrompt } from '../../../src/models/to-prompt.ts';
import type { Card } from '../../../src/card/card.ts';
import type { ChannelRequest } from '../../../src/channels/channel.ts';
import type { Settlement } from '../../../src/contract.ts';
import type { Json, JsonObject } from '../../../src/core/base/tool-call.ts';
import { cardRequest } from '../../card/sample-requests.ts';
import { documents, objects, type Inputs, pieces, type Run, values } from './input.ts';
import { isLoopbackAddress, isLoopbackHost } from '../../../src/text/loopback.ts';

const requestId = '0'.repeat(32);
const secret = 'a secret of at least sixteen bytes';
const site = siteOf('127.0.0.1', 8080, {});
/** Node refuses longer headers. */
const longestHeader = 16_000;
const withHeader = (name: string, run: (request: Request) => unknown): Run => {
  return (text) => {
    const value = text.replace(/[^\t -~]/gu, '?').trim();
    return run(new Request('http://127.0.0.1:8080/', { headers: { [name]: value } }));
  };
};
const answerOf = (body: string): APICallError =>
  new APICallError({
    message: body,
    url: `http://${body.slice(0, 200)}`,
    requestBodyValues: {},
    statusCode: 400,
    responseBody: body,
    responseHeaders: { 'retry-after': body, 'retry-after-ms': body },
    data: { error: { code: body } },
  });

/** The values of a template, with one that a model wrote. */
const about = (value: Json): JsonObject => ({ request: { arguments: value } });
const pushed = (text: string): ChannelRequest => ({
  ...cardRequest({ toolName: text, agentName: text, deadline: text }),
  requestId: text,
  workflowId: text,
});

const asked = (text: string): ChannelRequest => ({
  ...pushed(text),
  callerUserId: text,
  reviewers: [text],
  approvers: [text],
  shownArguments: { [text]: text },
});

const settledBy = (text: string): Settlement =>
  ({ outcome: 'denied', runs: false, reason: text, reviewerId: text, reviewerName: text, settledAt: text }) as const;

const fileNamed = (filename: string) => ({ mediaType: 'image/png', url: 'data:image/png;base64,AAAA', filename });

const listed = (tools: Parameters<typeof listedTools>[0]): unknown =>
  listedTools(tools, { server: 'a', trusted: false, attemptMs: 1, call: async () => undefined });

const nothing = async (): Promise<void> => undefined;
/** A request whose body is this text. */
const sent = (body: string) =>
  ({ req: { arrayBuffer: async () => new TextEncoder().encode(body), header: () => 'application/json' } }) as never;
const refuse = refuseInput();
/** A model that answers at once. */
const answering = (text: string) =>
  ({
    doGenerate: async () => ({
      content: [
        { type: 'text', text },
        ...pieces(text).map((toolName) => ({ type: 'tool-call', toolCallId: '1', toolName, input: toolName })),
      ],
      finishReason: { unified: 'stop' },
      usage: { inputTokens: {}, outputTokens: {} },
      warnings: [],
    }),
  }) as never;

export const edgeInputs: Inputs = {
  'models/ask-model.ts askModel': (text) =>
    askModel(answering(text), { prompt: [] }, new AbortController().signal, { streaming: 'off' }),
  'packages/gateway/src/http/links/link-page.ts linkProblemPage': (text) =>
    linkProblemPage({ code: 'internal', message: text }),
  'packages/gateway/src/http/shapes/define-route.ts refuseInput': [
    (text) =>
      refuse({ success: false, target: 'json', error: { issues: [{ path: [text], message: text }] } }, sent('')),
    (text) => {
      const errors = pieces(text).map((message) => [{ path: [message], message }]);
      return refuse(
        { success: false, target: text, error: { issues: [{ path: [], message: text, errors }] } },
        sent(''),
      );
    },
  ],
  'packages/gateway/src/http/shapes/define-route.ts strictJson': documents((text) => strictJson(sent(text), nothing)),
  'packages/gateway/src/http/shapes/define-route.ts strictIfJson': (text) => strictIfJson(sent(text), nothing),
  'packages/gateway/src/inbox/state/same-push-key.ts isSamePushKey': (text) => isSamePushKey(null, text),
  'models/model-failure.ts toModelFailure': [
    (text) => toModelFailure(answerOf(text), 0),
    (text) => toModelFailure(new Error(text), 0),
  ],
  'models/ask-model.ts refusesStreaming': (text) => refusesStreaming(answerOf(text)),
  'models/parse-object.ts parseArguments': documents((text) => parseArguments(text, Infinity)),
  'models/parse-object.ts parseObject': documents((text) => parseObject('output', text, Infinity)),
  'models/quote.ts quote': quote,
  'models/to-prompt.ts refusedFiles': [
    (text) => refusedFiles(answerOf(text), { kind: 'model_refused', message: text }, [fileNamed(text)]),
  ],
  'models/model-failure.ts refusesRequest': (text) => refusesRequest(answerOf(text)),
  'models/model-failure.ts retryAfterMs': [
    (text) => retryAfterMs({ 'retry-after': text }, 0),
    (text) => retryAfterMs({ 'retry-after': `Mon, ${text} GMT` }, 0),
    (text) => retryAfterMs({ 'retry-after-ms': text }, 0),
  ],
  'models/to-prompt.ts toPrompt': [
    (text) => toPrompt('', [{ role: 'user', content: text }], 'test'),
    (text) => toPrompt('', [{ role: 'assistant', content: text, outputProblem: text }], 'test'),
    (text) =>
      toPrompt(
        '',
        pieces(text).map((piece) => ({ role: 'tool' as const, toolCallId: '1', toolName: piece, content: piece })),
        'test',
      ),
    (text) => toPrompt('', [{ role: 'user', content: text, files: [fileNamed(text)] }], 'test', () => text),
    (text) => toPrompt('', [{ role: 'tool', toolCallId: '1', toolName: text, content: text }], 'test'),
    (text) => {
      const calls = pieces(text).map((piece) => ({ id: '1', name: piece, arguments: piece }));
      const parts = calls.flatMap(() => [{ type: 'text' as const, length: 1 }, { type: 'call' as const }]);
      const answers = calls.map(({ name }) => ({
        role: 'tool' as const,
        toolCallId: '1',
        toolName: name,
        content: name,
      }));
      const turn = { role: 'assistant' as const, content: text, toolCalls: calls };
      toPrompt('', [{ ...turn, providerTurn: { provider: 'test', parts } }, ...answers], 'test');
    },
  ],
  'models/model-failure.ts unreadableAnswer': (text) => unreadableAnswer(answerOf(text)),
  'packages/gateway/src/http/chat/say.ts saidMessage': (text) =>
    saidMessage(
      'a',
      pieces(text).flatMap((piece) => [{ text: piece }, { file: fileNamed(piece) }]),
    ),
  'packages/gateway/src/http/chat/chat-thread.ts parseAnswerId': parseAnswerId,
  'packages/gateway/src/http/chat/chat-thread.ts turnOf': (text) => turnOf(pieces(text)),
  'packages/gateway/src/http/chat/chat-thread.ts newestSession': (text) => newestSession([text, ...pieces(text)]),
  'packages/gateway/src/http/responses.ts wantsHtml': {
    most: longestHeader,
    runs: [withHeader('accept', wantsHtml)],
  },
  'packages/gateway/src/http/shapes/input-shapes.ts idempotencyKeyOf': (text) =>
    idempotencyKeyOf({ key: 'a' } as never, text, text),
  'packages/gateway/src/http/routes/identity.ts localPath': [localPath, (text) => localPath(`/${text}`)],
  'packages/gateway/src/http/routes/identity.ts tokenPage': tokenPage,
  'packages/gateway/src/http/identity/claims.ts personName': personName,
  'packages/gateway/src/http/identity/claims.ts namesakesAmong': (text) => namesakesAmong([text])(`${text}a`),
  'packages/gateway/src/http/identity/identity.ts findToken': (text) => findToken([], text),
  'packages/gateway/src/http/identity/principal.ts isRole': isRole,
  'packages/gateway/src/http/server/limits.ts senderAddress': {
    most: longestHeader,
    runs: [(text) => senderAddress(['127.0.0.0/8'])('127.0.0.1', text)],
  },
  'text/loopback.ts isLoopbackAddress': isLoopbackAddress,
  'text/loopback.ts isLoopbackHost': [isLoopbackHost, (text) => isLoopbackHost(`[${text}]`)],
  'packages/gateway/src/http/site.ts ownOrigin': {
    most: longestHeader,
    runs: [withHeader('host', (one) => ownOrigin(site, one))],
  },
  'packages/gateway/src/http/site.ts otherLoopbackName': {
    most: longestHeader,
    runs: [withHeader('host', (one) => otherLoopbackName({ ...site, publicUrl: 'http://localhost' }, one))],
  },
  'packages/gateway/src/http/streams/sse-stream.ts sseFrame': values((value) => sseFrame('a', value)),
  'packages/mcp/src/tool-result.ts toolName': (text) => toolName('a', text),
  'packages/mcp/src/argument-schema.ts argumentSchema': [
    ...objects((value) => argumentSchema(value)['~standard'].validate(value)),
    // As deep as it is long, and with a list of everything that a value may be.
    (text) =>
      argumentSchema({ type: 'object', properties: { list: { items: { enum: pieces(text) } } } })['~standard'].validate(
        { list: pieces(text) },
      ),
    (text) =>
      argumentSchema({ required: pieces(text), additionalProperties: { type: 'string' } })['~standard'].validate(
        Object.fromEntries(pieces(text).map((piece) => [piece, piece])),
      ),
  ],
  'packages/mcp/src/listed-tools.ts listedTools': [
    (text) => listed([{ name: text, inputSchema: { type: 'object' } }]),
    (text) => listed([{ name: 'a', description: text, inputSchema: { type: 'object', title: text } }]),
    (text) => listed(pieces(text).map((name) => ({ name, inputSchema: { type: 'object' } }))),
  ],
  'packages/mcp/src/tool-result.ts toolResult': [
    (text) => toolResult({ content: pieces(text).map((piece) => ({ type: 'text', text: piece })) }),
    (text) => toolResult({ content: [{ type: 'image', mimeType: text, data: text }], structuredContent: { text } }),
  ],
  'adapters/webhook/signature.ts legacySignature': (text) =>
    legacySignature({ over: 'id_and_tool' }, secret, { requestId, toolName: text, body: text }),
  'adapters/webhook/webhook-channel.ts readAnswer': [
    ...documents((text) => readAnswer(text, { requestId, named: [] })),
    (text) => readAnswer(JSON.stringify({ approved: true, reason: text }), { requestId, named: [] }),
  ],
  'adapters/webhook/signature.ts verify': ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    (name): Run =>
      (text) => {
        const given = { 'webhook-id': 'a', 'webhook-timestamp': '1', 'webhook-signature': `v1,${text}` };
        return verify(signingKeys([secret]), { ...given, [name]: text }, text);
      },
  ),
  'adapters/slack/interaction.ts readInteraction': values(readInteraction),
  'adapters/slack/cards.ts blockOwner': blockOwner,
  'adapters/slack/interaction.ts readModal': (text) =>
    readModal({ callback_id: text, private_metadata: text, state: { values: { [text]: {} } } }),
  'adapters/slack/post.ts postedMessage': (text) =>
    postedMessage({ channel: 'c', messages: [{ ts: '1', of: text }] }, text),
  'adapters/slack/cards.ts readShown': [
    (text) => readShown(text, text),
    (text) => readShown(`open.${text}`, JSON.stringify(pieces(text))),
  ],
  'adapters/slack/cards.ts readTexts': documents((text) => readTexts(text, 2)),
  'adapters/slack/slack-api.ts isSignedBySlack': {
    most: longestHeader,
    runs: [
      withHeader('x-slack-signature', ({ headers }) => isSignedBySlack({ headers, body: new Uint8Array() }, secret)),
    ],
  },
  'adapters/email/mail-content.ts noticeContent': [
    (text) => noticeContent(waitingNotice(asked(text), 0, {})),
    (text) => noticeContent(outcomeNotice(asked(text), settledBy(text), {})),
  ],
  'adapters/email/mail-server.ts isAscii': isAscii,
  'adapters/email/mail-thread.ts readThread': values(readThread),
  'adapters/on-call/template.ts sentenceOf': (text) => sentenceOf({ sentence: { text } } as Card),
  'adapters/on-call/template.ts cutText': [(text) => cutText(text, 1_000), (text) => cutText(text, text.length - 1)],
  'adapters/on-call/template.ts fillTemplate': values((value) =>
    fillTemplate({ whole: '{{request.arguments}}', within: 'It wants {{ request.arguments }}.' }, about(value)),
  ),
  'adapters/on-call/template.ts fillText': values((value) =>
    fillText('https://127.0.0.1/{{request.arguments}}', about(value), (text) =>
      encodeURIComponent(text.toWellFormed()),
    ),
  ),
  'adapters/on-call/template.ts memberOf': values((value) => memberOf(about(value), 'request.arguments')),
  'adapters/web-push/push-message.ts askingMessage': (text) =>
    askingMessage(pushed(text), { kind: 'asked' }, { origin: 'https://127.0.0.1', key: text }),
  'adapters/web-push/push-message.ts callerMessage': (text) =>
    callerMessage(pushed(text), { outcome: 'denied', reviewerId: text } as Settlement, {
      origin: 'https://127.0.0.1',
      key: text,
    }),
  'adapters/web-push/push-message.ts settledMessage': (text) =>
    settledMessage(pushed(text), { outcome: 'denied', reviewerId: text } as Settlement, {
      origin: 'https://127.0.0.1',
      key: text,
    }),
};
