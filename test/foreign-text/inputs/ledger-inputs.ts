import { ApplicationFailure } from '@temporalio/workflow';
import { channelsWorkflowId, endedRunsWorkflowId, newInput, shownTranscript } from '../../../src/contract.ts';
import {
  admittedBefore,
  sumOf,
  withoutShare,
  withShare,
  withShareSpent,
} from '../../../src/core/ledger/argument-sums.ts';
import { committable, committedLeaf, leafOf, saltedHash, saltsOf } from '../../../src/core/ledger/commit-entry.ts';
import {
  deniedToolId,
  denialOfCall,
  earlierDenialOf,
  finalDenials,
  isDeniedBefore,
  toolsToLift,
  withDenial,
  withoutDenials,
} from '../../../src/core/ledger/denials.ts';
import { openedAtMs } from '../../../src/core/ledger/escalation.ts';
import {
  hideGlobs,
  hideInRequest,
  argumentBytes,
  redactInRequest,
  redactInSettlement,
  redactInVote,
  shownPreview,
} from '../../../src/core/ledger/hidden-arguments.ts';
import {
  emptyLedger,
  findOpen,
  type Ledger,
  refusalOf,
  requestInPlaceOf,
  requestOf,
  withOutcome,
} from '../../../src/core/ledger/ledger-state.ts';
import { useGrant } from '../../../src/core/ledger/make-grant.ts';
import { isHash, isTree, leafHash } from '../../../src/core/ledger/merkle.ts';
import { countsAsIrreversible } from '../../../src/core/ledger/open-request.ts';
import { recordedContext } from '../../../src/core/ledger/recorded-context.ts';
import { editedSentence, settledSentence } from '../../../src/core/ledger/sentences.ts';
import { notOpenReceipt, settledReceipt, votedReceipt } from '../../../src/core/ledger/settle.ts';
import { shownArguments } from '../../../src/core/ledger/shown-arguments.ts';
import { rowPeople } from '../../../src/core/ledger/approval-index.ts';
import { waitingNotice } from '../../../src/core/ledger/waiting-for.ts';
import { limitsOf } from '../../../src/core/policy/limits.ts';
import { ranSince } from '../../../src/core/ledger/journal-entry.ts';
import { engine } from '../../../src/core/policy/ruling.ts';
import { sensitiveKinds } from '../../../src/core/redact/kinds.ts';
import { redactionOf, type Redaction } from '../../../src/core/redact/redaction.ts';
import { heldAgain, heldAsUnknown } from '../../../src/workflows/agent/readmission.ts';
import { readInput } from '../../../src/workflows/agent/start.ts';
import {
  isFinal,
  keptAnswer,
  lastText,
  resultOf,
  withoutFileData,
  withRefused,
} from '../../../src/workflows/agent/transcript.ts';
import { failureReason } from '../../../src/workflows/channels/failures.ts';
import { approversOfGrant } from '../../../src/core/ledger/approved-by.ts';
import { changedDefinitionOf } from '../../../src/workflows/gate/admit-call.ts';
import { revokedIn } from '../../../src/workflows/gate/approver-checks.ts';
import { gateRefusal, ranOf } from '../../../src/workflows/guarded/gate-refusal.ts';
import { claimed } from '../../../src/workflows/messages/authenticate.ts';
import { identityOf, misusedId } from '../../../src/workflows/messages/idempotency.ts';
import { loosening } from '../../../src/workflows/messages/policy-messages.ts';
import { refused } from '../../../src/workflows/messages/message-kind.ts';
import { editedRedaction, redactionFor, redactSummary } from '../../../src/workflows/state/record-request.ts';
import { refusedBySecondGate, type JsonObject } from '../../../src/core/base/tool-call.ts';
import { cardRequest } from '../../card/sample-requests.ts';
import { type Inputs, objects, pieces, type Run, values } from './input.ts';

const tag = 'default/w/r';
const salt = '0'.repeat(32);
const settings = { kinds: sensitiveKinds, patterns: [], also: [] };
const redact = (args: JsonObject): Redaction => redactionOf(args, { settings });
const record = (args: JsonObject) =>
  ({ callId: '1.1', request: cardRequest({ arguments: args }), redaction: redact(args) }) as never;
/** A request with the text in each of its members. */
const requested = (run: (request: never) => unknown): Run[] => [
  ...objects((args) => run(cardRequest({ arguments: args }) as never)),
  (text) => run(cardRequest({ sentence: text, contextSummary: text, toolName: text }) as never),
];
const redacted = (run: (args: JsonObject, found: Redaction) => unknown): Run[] => [
  ...objects((args) => run(args, redact(args))),
  (text) => {
    const args = Object.fromEntries(pieces(text).map((piece, index) => [`password${index}`, piece]));
    return run(args, redact(args));
  },
];
const denial = (text: string) => ({ toolName: text, digest: text, reason: text, by: { at: text, reviewerId: text } });
const limits = limitsOf({});
/** A ledger with a request, a denial and a sum of that name. */
const ledgerOf = (text: string): Ledger =>
  ({
    ...withDenial(withShare(emptyLedger(engine), text, text, { amount: 1 }), denial(text)),
    open: [{ callId: text, request: cardRequest({ requestId: text }) }],
  }) as never;
const inLedger = (run: (ledger: Ledger, text: string) => unknown): Run => {
  return (text) => run(ledgerOf(text), text);
};
const scopeOf = (text: string) => ({
  kind: 'arguments' as const,
  match: Object.fromEntries(pieces(text).map((piece, index) => [`${index}${piece}`, piece])),
});
/** As many names, all of them others. */
const othersOf = (text: string): string[] => pieces(text).map((piece, index) => `${piece}${index}!`);
const decision = (text: string) => ({ requestId: text, approved: true, reason: text, decisionId: text });
const signature = { keyId: 'k', signedAt: '2030-01-31T12:00:00Z', value: '' };
const heard = { directories: {}, ledger: emptyLedger(1) };
const ceiling = { reviewerKeys: { k: { publicKey: `${'A'.repeat(43)}=`, operator: true } } } as never;
const failures: readonly ((text: string) => Error)[] = [
  (text) => ApplicationFailure.create({ message: text, type: text, details: [{ gate: true, text }] }),
  (text) => new Error(text),
];
const failed = (run: (error: Error) => unknown): Run[] => failures.map((failure) => (text) => run(failure(text)));
const outcomeNamed = (callId: string) => ({ callId, toolName: callId, outcome: 'approved', ran: 'no' }) as const;
const said = (text: string) =>
  [
    { role: 'user', content: text, files: [{ mediaType: text, url: text, filename: text }] },
    { role: 'assistant', content: text, toolCalls: pieces(text).map((id) => ({ id, name: id, arguments: {} })) },
    ...pieces(text).map((content) => ({ role: 'tool', toolCallId: content, toolName: content, content })),
    ...pieces(text).map((content) => ({ role: 'user', content })),
  ] as never[];

export const ledgerInputs: Inputs = {
  'contract.ts channelsWorkflowId': channelsWorkflowId,
  'contract.ts endedRunsWorkflowId': endedRunsWorkflowId,
  'contract.ts shownTranscript': (text) => shownTranscript(said(text)),
  'contract.ts newInput': (text) => newInput(said(text)),
  'core/ledger/approved-by.ts approversOfGrant': inLedger((ledger, text) => approversOfGrant(text, ledger, {})),
  'core/ledger/argument-sums.ts withShare': [
    (text) => withShare(emptyLedger(engine), text, text, { [text]: 1 }),
    (text) =>
      withShare(emptyLedger(engine), '1.1', 'pay', Object.fromEntries(pieces(text).map((piece, at) => [piece, at]))),
  ],
  'core/ledger/argument-sums.ts withoutShare': inLedger(withoutShare),
  'core/ledger/argument-sums.ts withShareSpent': inLedger(withShareSpent),
  'core/ledger/argument-sums.ts admittedBefore': inLedger(admittedBefore),
  'core/ledger/argument-sums.ts sumOf': inLedger(({ sums }, text) => sumOf(sums, text, text)),
  'core/ledger/commit-entry.ts saltsOf': (text) => saltsOf(salt)(1, text),
  'core/ledger/commit-entry.ts saltedHash': values((value) => saltedHash(salt, value)),
  'core/ledger/commit-entry.ts leafOf': objects((plain) => leafOf(tag, plain, {})),
  'core/ledger/commit-entry.ts committedLeaf': objects((entry) =>
    committedLeaf({ seq: 1, kind: 'vote', ...entry } as never, tag, saltsOf(salt)),
  ),
  'core/ledger/commit-entry.ts committable': values(committable),
  'core/ledger/denials.ts denialOfCall': inLedger(({ denied }, text) => denialOfCall(denied, text, limits)),
  'core/ledger/denials.ts isDeniedBefore': inLedger(({ denied }, text) => isDeniedBefore(denied, text)),
  'core/ledger/denials.ts earlierDenialOf': inLedger(({ denied }, text) => earlierDenialOf(denied, text)),
  'core/ledger/denials.ts finalDenials': inLedger(({ denied }, text) => finalDenials(denied, text, limits)),
  'core/ledger/denials.ts toolsToLift': inLedger((ledger, text) => toolsToLift(ledger, pieces(text))),
  'core/ledger/denials.ts withoutDenials': inLedger(({ denied }, text) => withoutDenials(denied, text)),
  'core/ledger/denials.ts deniedToolId': deniedToolId,
  'core/ledger/escalation.ts openedAtMs': (text) => openedAtMs({ request: { requestedAt: text } }),
  'core/ledger/hidden-arguments.ts hideInRequest': requested(hideInRequest),
  'core/ledger/hidden-arguments.ts hideGlobs': (text) => hideGlobs(scopeOf(text), othersOf(text)),
  'core/ledger/journal-entry.ts ranSince': (text) => ranSince({ ran: text as never }, 'no'),
  'core/ledger/ledger-state.ts withOutcome': (text) =>
    withOutcome({ outcomes: pieces(text).map(outcomeNamed) }, outcomeNamed(text)),
  'core/ledger/ledger-state.ts requestOf': inLedger(requestOf),
  'core/ledger/ledger-state.ts findOpen': inLedger(findOpen),
  'core/ledger/ledger-state.ts requestInPlaceOf': inLedger(requestInPlaceOf),
  'core/ledger/ledger-state.ts refusalOf': inLedger((ledger, text) => refusalOf(ledger, text, 'internal', text)),
  'core/ledger/hidden-arguments.ts argumentBytes': objects(argumentBytes),
  'core/ledger/make-grant.ts useGrant': (text) => useGrant({ grants: [{ grantId: text } as never] }, `${text}!`),
  'core/ledger/merkle.ts leafHash': leafHash,
  'core/ledger/merkle.ts isTree': [
    ...values(isTree),
    (text) => isTree({ size: Number.MAX_SAFE_INTEGER, hashes: pieces(text) }),
    (text) => isTree({ size: text.length, hashes: text }),
  ],
  'core/ledger/merkle.ts isHash': isHash,
  'core/ledger/open-request.ts countsAsIrreversible': inLedger((ledger, requestId) =>
    countsAsIrreversible(ledger, { by: 'preview', requestId }),
  ),
  'core/ledger/recorded-context.ts recordedContext': [
    ...objects((metadata) => recordedContext({ metadata: metadata })),
    (text) => recordedContext({ caller: { userId: text } }),
  ],
  'core/ledger/hidden-arguments.ts redactInRequest': {
    places: 3,
    runs: redacted((args, found) =>
      redactInRequest(cardRequest({ arguments: args, sentence: 'it pays' }) as never, found),
    ),
  },
  'core/ledger/hidden-arguments.ts redactInSettlement': redacted((args, found) =>
    redactInSettlement({ edited: { arguments: args, digest: '' } } as never, found),
  ),
  'core/ledger/hidden-arguments.ts redactInVote': (text) => redactInVote({ always: scopeOf(text) }, othersOf(text)),
  'core/ledger/sentences.ts settledSentence': [
    (text) => settledSentence({ outcome: 'denied', reason: text } as never, 1, text),
    (text) => settledSentence({ outcome: 'responded', response: text } as never, 1, text),
    ...objects((response) => settledSentence({ outcome: 'responded', response } as never, 1, 'pay')),
  ],
  'core/ledger/sentences.ts editedSentence': objects((args) => editedSentence(args, { ...args, to: 1 })),
  'core/ledger/settle.ts notOpenReceipt': inLedger((ledger, text) => notOpenReceipt(ledger, text, {})),
  'core/ledger/settle.ts settledReceipt': (text) =>
    settledReceipt(text, { outcome: 'approved', reviewerId: text, reviewerName: `${text}a` }),
  'core/ledger/settle.ts votedReceipt': (text) => votedReceipt(text, { have: 1, need: 2 }),
  'core/ledger/shown-arguments.ts shownArguments': {
    places: 3,
    runs: redacted((args, found) => shownArguments(args, Object.keys(args), found.values)),
  },
  'core/ledger/hidden-arguments.ts shownPreview': {
    places: 3,
    runs: [
      ...redacted((args) =>
        shownPreview(record(args), {
          state: 'ready',
          changes: [{ kind: 'text', name: 'a', before: JSON.stringify(args), after: null }],
        }),
      ),
      (text) => shownPreview(record({ password: 'a1b2c3d4' }), { state: 'failed', message: text }),
    ],
  },
  'core/ledger/approval-index.ts rowPeople': (text) =>
    rowPeople({
      reviewers: pieces(text),
      delegations: [{ from: text, to: text }],
      approvers: pieces(text),
      cannotBeApproved: text,
      callerName: text,
    }),
  'core/ledger/waiting-for.ts waitingNotice': requested(waitingNotice),
  'workflows/agent/readmission.ts heldAgain': [undefined, (text: string) => pieces(text)].map(
    (changes) => (text: string) =>
      heldAgain(
        { modelCallId: text, tool: text, written: {}, call: { callId: text, args: {} } } as never,
        { name: text, description: text, schema: { title: text } } as never,
        {
          definition: { name: text, description: `${text}!`, schema: { title: `${text}!` } },
          changes: changes?.(text),
        } as never,
        { requestId: text, redaction: undefined },
        said(text),
      ),
  ),
  'workflows/agent/readmission.ts heldAsUnknown': (text) =>
    heldAsUnknown(
      { modelCallId: text, tool: text, written: {}, call: { callId: text, args: {} } } as never,
      { sentence: text },
      { requestId: text, redaction: undefined },
      said(text),
    ),
  'workflows/agent/start.ts readInput': [
    ...objects((value) => readInput({ ...value, input: 'a' })),
    (text) => readInput({ agent: text, input: text }),
    (text) => readInput({ agent: 'a', input: said(text) }),
  ],
  'workflows/agent/transcript.ts keptAnswer': (text) =>
    keptAnswer(
      { text, outputProblem: text } as never,
      pieces(text).map((piece) => ({ modelCallId: piece, tool: piece, written: {} }) as never),
    ),
  'workflows/agent/transcript.ts isFinal': (text) => isFinal({ role: 'assistant', content: text }),
  'workflows/agent/transcript.ts resultOf': (text) => resultOf({ finishReason: text } as never),
  'workflows/agent/transcript.ts withRefused': (text) => withRefused(said(text)),
  'workflows/agent/transcript.ts lastText': (text) => [lastText(said(text), 'user'), lastText(said(text), 'assistant')],
  'workflows/agent/transcript.ts withoutFileData': (text) => withoutFileData(said(text)),
  'workflows/channels/failures.ts failureReason': failed(failureReason),
  'workflows/gate/admit-call.ts changedDefinitionOf': failed((error) => changedDefinitionOf(error, 'pay')),
  'workflows/guarded/gate-refusal.ts gateRefusal': failed(gateRefusal),
  'workflows/guarded/gate-refusal.ts ranOf': failed(ranOf),
  'workflows/gate/approver-checks.ts revokedIn': (text) => {
    const revoked = { keys: pieces(text), people: [text] };
    const details = [refusedBySecondGate, { revoked }];
    return revokedIn(ApplicationFailure.create({ message: text, type: text, details }));
  },
  'workflows/messages/authenticate.ts claimed': [
    (text) => claimed('decide', { reviewerId: text, signature: { ...signature, keyId: text } }, ceiling, heard),
    (text) => claimed(text, { by: text }, ceiling, heard),
  ],
  'workflows/messages/idempotency.ts identityOf': [
    (text) => identityOf('decide', decision(text)),
    ...objects((message) => identityOf('revoke', { ...message, signature, messageId: 'a' })),
  ],
  'workflows/messages/idempotency.ts misusedId': misusedId,
  'workflows/messages/policy-messages.ts loosening': (text) =>
    loosening(
      { signature: { ...signature, signedAt: text } },
      { operator: true } as never,
      ceiling,
      { operatorMs: 0 },
      0,
    ),
  'workflows/messages/message-kind.ts refused': (text) => refused(text, { code: 'internal', message: text }),
  'workflows/state/record-request.ts redactionFor': redacted((args) => redactionFor({ args, ruled: {} }, settings)),
  'workflows/state/record-request.ts editedRedaction': {
    places: 3,
    runs: redacted((args) => editedRedaction({ args, ruled: {} }, settings, record(args))),
  },
  'workflows/state/record-request.ts redactSummary': redacted((args, found) =>
    redactSummary(JSON.stringify(args), args, found),
  ),
};
