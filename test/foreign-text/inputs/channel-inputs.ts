import { answerDecision, checkAnswer, parseAnswer } from '../../../src/channels/channel-answer.ts';
import {
  decisionIdOf,
  linkExpiry,
  linkUrl,
  openLink,
  gatewayOrigin,
  inboxUrl,
} from '../../../src/channels/answer-link.ts';
import { failureOf } from '../../../src/channels/activities/call-failures.ts';
import { addressFilter, addressRefused } from '../../../src/channels/outgoing/address-filter.ts';
import { readRetryAfter } from '../../../src/channels/outgoing/not-taken.ts';
import { readChannelFile } from '../../../src/channels/read-channel-file.ts';
import { createSeals } from '../../../src/channels/sealed-text.ts';
import { readCursor } from '../../../src/client/inbox/inbox-batches.ts';
import { unreadRun } from '../../../src/client/inbox/list-approvals.ts';
import {
  refusalFor,
  refusedReceipt,
  runClosed,
  recordedReceipt,
  unknownRequest,
  unreadable,
} from '../../../src/client/send/deliver.ts';
import { malformedRequestId } from '../../../src/client/send/find-request.ts';
import { keyedStart } from '../../../src/client/send/start-run.ts';
import { publicKeyOf, readPrivateKey, signDecision, signMessage } from '../../../src/client/send/sign-message.ts';
import { isNotTakenUp, isNotTakenYet } from '../../../src/client/server/client-plugin.ts';
import { parseKeys } from '../../../src/codec/encryption-codec.ts';
import { payloadFromJson } from '../../../src/codec/codec-server.ts';
import {
  grpcStatusOf,
  runNotFound,
  serverWords,
  startCommandIn,
  translateServerError,
  unreachable,
  unreadAnswer,
  unreadPayload,
} from '../../../src/connection/server-error.ts';
import { workerFacts } from '../../../src/connection/one-sdk.ts';
import { ProblemError } from '../../../src/core/base/problem.ts';
import { claimOf, fileNameIn } from '../../../src/payload-folder/payload-files.ts';
import { documents, type Inputs, objects, pieces, type Run, values } from './input.ts';

const requestId = '0'.repeat(32);
const place = { address: '127.0.0.1:7233', namespace: 'default', workflowId: 'w' };
const key = Buffer.alloc(32);
const seals = createSeals({ namespace: 'default' });
const signing = { namespace: 'default', workflowId: 'w', keyId: 'k', privateKey: `${'A'.repeat(43)}=` };

/** Answers of a channel, with the text in each of their members. */
const answers: readonly ((text: string) => Record<string, unknown>)[] = [
  (text) => ({ approved: true, reason: text, reviewerId: text }),
  (text) => ({ approved: true, [text]: text }),
  (text) => ({ approved: true, modifiedArguments: { [text]: text }, userMessages: text }),
  (text) => ({ approved: true, always: { kind: 'arguments', match: { to: text } } }),
  (text) => ({ approved: text, response: pieces(text) }),
  (text) => Object.fromEntries(pieces(text).map((piece) => [piece, piece])),
];
const answered = (run: (answer: Record<string, unknown>) => unknown): Run[] =>
  answers.map((answer) => (text) => run(answer(text)));

/** An error of the server, as the SDK throws it. */
const said: readonly ((text: string) => Error)[] = [
  (text) => new Error(text),
  (text) => Object.assign(new Error(text), { code: 5, details: text }),
  (text) => Object.assign(new Error(text), { code: 3, details: text }),
  (text) => Object.assign(new Error('5 NOT_FOUND'), { code: 5, details: `namespace ${text}` }),
  (text) => new Error('query failed', { cause: Object.assign(new Error(text), { details: text }) }),
];
const thrown = (run: (error: Error) => unknown): Run[] => said.map((error) => (text) => run(error(text)));

export const channelInputs: Inputs = {
  'channels/activities/call-failures.ts failureOf': thrown(failureOf),
  'channels/channel-answer.ts answerDecision': answered((answer) => answerDecision(answer as never, 'a')),
  'channels/answer-link.ts linkExpiry': [
    (text) => linkExpiry({ deadline: null }, text),
    (text) => linkExpiry({ deadline: text }, undefined),
  ],
  'channels/answer-link.ts linkUrl': (text) => linkUrl('https://a.example', text),
  'channels/answer-link.ts openLink': [
    (text) => openLink(seals, text),
    (text) => openLink(seals, `eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..${text}`),
    (text) => openLink(seals, `${text}.a.a.a.a`),
  ],
  'channels/answer-link.ts decisionIdOf': decisionIdOf,
  'channels/channel-answer.ts checkAnswer': [...answered(checkAnswer), ...values(checkAnswer)],
  'channels/answer-link.ts gatewayOrigin': [
    gatewayOrigin,
    (text) => gatewayOrigin(`http://127.${text}`.slice(0, 8_000)),
  ],
  'channels/answer-link.ts inboxUrl': [
    (text) => inboxUrl('https://a.example', { workflowId: text }),
    (text) => inboxUrl('https://a.example', { workflowId: text, requestId: text }),
  ],
  'channels/outgoing/not-taken.ts readRetryAfter': (text) => readRetryAfter(text, 0),
  'channels/outgoing/address-filter.ts addressFilter': [
    (text) => addressFilter(['10.0.0.0/8']).isRefused(text),
    (text) => addressFilter(['10.0.0.0/8']).isRefused(`fe80::1%${text}`),
    (text) => addressFilter(['10.0.0.0/8']).isAllowed(`10.0.0.1${text}`),
  ],
  'channels/outgoing/address-filter.ts addressRefused': (text) => addressRefused(text, `${text}!`),
  'channels/channel-answer.ts parseAnswer': answered((answer) => parseAnswer(answer, requestId)),
  'channels/read-channel-file.ts readChannelFile': {
    // As for a policy: YAML is parsed token by token.
    places: 60,
    runs: [
      (text) => readChannelFile(`channels:\n  a:\n    kind: ${text}\n`, {}),
      (text) => readChannelFile(`{"channels":{${JSON.stringify(text)}:{"kind":"a"}}}\n`, {}),
      (text) =>
        readChannelFile(
          `channels: {${pieces(text)
            .map((piece) => `"${piece}": {}`)
            .join(', ')}}\n`,
          {},
        ),
      (text) => readChannelFile(`\n${text}`, {}),
    ],
  },
  'channels/sealed-text.ts createSeals': [
    (text) => seals.open('session', text),
    (text) => seals.open('push', pieces(text).join('.')),
  ],
  'client/inbox/inbox-batches.ts readCursor': [
    readCursor,
    ...documents((text) => readCursor(Buffer.from(text).toString('base64url'))),
  ],
  'client/inbox/list-approvals.ts unreadRun': (text) => unreadRun(text, pieces(text), text),
  'client/send/deliver.ts refusedReceipt': (text) =>
    refusedReceipt({ requestId: text }, { code: 'internal', message: text }),
  'client/send/deliver.ts refusalFor': (text) =>
    refusalFor({ requestId: text }, new ProblemError({ code: 'run_closed', message: text })),
  'client/send/deliver.ts runClosed': runClosed,
  'client/send/find-request.ts malformedRequestId': malformedRequestId,
  'client/send/start-run.ts keyedStart': [
    (text) => keyedStart({ idempotencyKey: text }, { agent: text, input: text }),
    ...objects((metadata) => keyedStart({ idempotencyKey: 'a' }, { agent: 'a', input: 'b', metadata: metadata })),
  ],
  'client/send/deliver.ts unknownRequest': (text) => unknownRequest(text, text),
  'client/send/deliver.ts recordedReceipt': (text) =>
    recordedReceipt(
      text,
      { reason: text },
      { requestId: text, workflowId: text, listing: 'unlisted', lastSentence: text },
    ),
  'client/send/sign-message.ts publicKeyOf': publicKeyOf,
  'client/send/sign-message.ts readPrivateKey': [
    readPrivateKey,
    (text) => readPrivateKey(`-----BEGIN PRIVATE KEY-----\n${text}\n-----END PRIVATE KEY-----\n`),
  ],
  'client/send/deliver.ts unreadable': unreadable,
  'client/send/sign-message.ts signDecision': [
    (text) => signDecision({ requestId, approved: true, reason: text, decisionId: text }, signing),
    ...objects((modifiedArguments) => signDecision({ requestId, approved: true, modifiedArguments }, signing)),
  ],
  'client/send/sign-message.ts signMessage': objects((message) => signMessage('revoke', message, signing)),
  'client/server/client-plugin.ts isNotTakenUp': thrown(isNotTakenUp),
  'client/server/client-plugin.ts isNotTakenYet': thrown(isNotTakenYet),
  'codec/encryption-codec.ts parseKeys': [
    (text) => parseKeys(text, 'a'),
    (text) =>
      parseKeys(
        pieces(text)
          .map((piece, index) => `${index}${piece.replace(/[\n,:]/g, '')}:gone`)
          .join(','),
        'a',
      ),
  ],
  'codec/codec-server.ts payloadFromJson': [
    ...values(payloadFromJson),
    (text) => payloadFromJson({ metadata: { encoding: text, [text]: text }, data: text }),
    (text) => payloadFromJson({ metadata: Object.fromEntries(pieces(text).map((piece) => [piece, piece])), data: '' }),
  ],
  'connection/server-error.ts grpcStatusOf': thrown(grpcStatusOf),
  'connection/server-error.ts serverWords': thrown(serverWords),
  'connection/server-error.ts unreachable': (text) => unreachable(text),
  'connection/server-error.ts startCommandIn': startCommandIn,
  'connection/server-error.ts runNotFound': (text) => runNotFound(text, text),
  'connection/server-error.ts unreadAnswer': (text) => unreadAnswer(text, text),
  'connection/server-error.ts translateServerError': [
    ...thrown((error) => translateServerError(error, place)),
    (text) => translateServerError(new Error(text), { address: text, namespace: text }),
  ],
  'connection/server-error.ts unreadPayload': (text) => unreadPayload('gone', text),
  'connection/one-sdk.ts workerFacts': [
    workerFacts,
    (text) => workerFacts(`1@host;countersign=${text};engine=1;policy=none`),
    (text) => workerFacts(`1@${text};countersign=1.0.0;engine=${text};policy=${text}`),
  ],
  'payload-folder/payload-files.ts claimOf': (text) => claimOf(key, text),
  'payload-folder/payload-files.ts fileNameIn': [
    (text) => fileNameIn(key, { sha256: text, proof: text }),
    (text) => fileNameIn(key, { sha256: '0'.repeat(64), proof: text }),
    (text) => fileNameIn(key, { ...claimOf(key, '0'.repeat(64)), [text]: text }),
  ],
};
