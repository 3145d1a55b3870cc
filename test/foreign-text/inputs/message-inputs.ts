import { assess, assessBuiltIn } from '../../../src/assess/assess.ts';
import { answerableIn, requestKey } from '../../../src/client/inbox/delegate-all.ts';
import {
  readProgress,
  readStanding,
  standingDelegationId,
  untilAtOf,
} from '../../../src/client/inbox/standing-delegations.ts';
import { joinAssessments, type AssessedCall } from '../../../src/core/assess/assessment.ts';
import { viewCall, holdsWord, isNamed, nameWords } from '../../../src/assess/finding.ts';
import {
  commandWords,
  programsIn,
  assessCommandText,
  longestCommand,
  namesCommand,
  runsCommands,
} from '../../../src/assess/commands.ts';
import { assessPath, readPath } from '../../../src/assess/files.ts';
import { hostKind, assessAddress } from '../../../src/assess/network.ts';
import { readAmount } from '../../../src/assess/money.ts';
import { assessRecorded } from '../../../src/core/policy/recorded-assessment.ts';
import { compileAssessRules } from '../../../src/core/policy/assess-rules.ts';
import { assessStatements, longestStatement } from '../../../src/assess/statements.ts';
import type { Json, JsonObject } from '../../../src/core/base/tool-call.ts';
import { readConsoleLine } from '../../../src/text/console-line.ts';
import {
  contentDigest,
  decisionDigest,
  instantMs,
  messageIdOf,
  readClose,
  readDelegate,
  readExtend,
  readRevoke,
  readSetPolicy,
  readUserMessage,
  userMessageDigest,
} from '../../../src/core/messages/control.ts';
import { isRequestId, parseDecision, sameDecision, signatureProblem } from '../../../src/core/messages/decision.ts';
import { claimedSender, verifiedSender } from '../../../src/core/messages/sender.ts';
import { signedText, verifySignature } from '../../../src/core/messages/signature.ts';
import { viewedProblem } from '../../../src/core/messages/viewed.ts';
import {
  groupOf,
  isAmong,
  isOneOf,
  allIdsOf,
  membersOf,
  membersOfOne,
  namesIn,
  personKeyIn,
  personOf,
  isSamePerson,
  personKey,
  widely,
} from '../../../src/core/people/directory.ts';
import { readRevoked, revokedOf, revokedSentence } from '../../../src/core/people/revoked.ts';
import { isCaller } from '../../../src/core/people/entitlement.ts';
import { Seats, seatsOf, withDelegates } from '../../../src/core/people/delegation.ts';
import { type Inputs, objects, pieces, type Run, values } from './input.ts';

const requestId = '0'.repeat(32);
const signature = { keyId: 'k', signedAt: '2030-01-31T12:00:00Z', value: '' };

/** Each assessor recognizes its calls by the names of tools and arguments. */
const named: readonly [tool: string, argument: string][] = [
  ['send_email', 'to'],
  ['send_email', 'sender'],
  ['run_shell', 'command'],
  ['run_code', 'code'],
  ['run_query', 'sql'],
  ['delete_file', 'path'],
  ['http_post', 'url'],
  ['http_post', 'host'],
  ['pay', 'amount'],
  ['pay', 'currency'],
];
const assessed = (run: (call: AssessedCall) => unknown): Run[] => [
  ...named.map(
    ([tool, argument]): Run =>
      (text) =>
        run({ tool, args: { [argument]: text }, risk: 'write' }),
  ),
  // The assessors of mail, commands and files all recognize this one: a third of the text for each.
  (text) => {
    const third = pieces(text.slice(0, Math.ceil(text.length / 3)));
    const args = { to: third, command: third, path: third };
    return run({ tool: 'send_email_run_shell_delete_file', args, risk: 'write' });
  },
  (text) => run({ tool: text, args: {}, risk: 'write' }),
  ...objects((args) => run({ tool: 'a', args, risk: 'write' })),
];
const assessRules = compileAssessRules({
  run: { assess: [{ pattern: '*:*a?b*', severity: 'high' }] },
});
const decisions: readonly ((text: string) => JsonObject)[] = [
  (text) => ({ requestId: text, approved: true }),
  (text) => ({ requestId, approved: true, reason: text }),
  (text) => ({ requestId, approved: true, digest: text }),
  (text) => ({ requestId, approved: true, [text]: 1 }),
  (text) => ({ requestId, approved: true, modifiedArguments: { [text]: text } }),
  (text) => ({ requestId, approved: true, always: { kind: 'arguments', match: { to: text } } }),
  (text) => ({ requestId, approved: true, always: { kind: 'call', expiresIn: text } }),
  (text) => ({ requestId, approved: true, signature: { ...signature, value: text } }),
  (text) => ({ requestId, approved: true, viewed: { card: text, channel: text } }),
];
const decided = (run: (decision: JsonObject) => unknown): Run[] =>
  decisions.map((decision) => (text) => run(decision(text)));
const control = (read: (value: unknown) => unknown, ...names: string[]): Run[] => [
  ...names.flatMap((name): Run[] => [(text) => read({ [name]: text }), (text) => read({ [name]: pieces(text) })]),
  ...values(read),
];
const signed = (run: (message: Json) => unknown): Run[] => [
  ...objects((message) => run({ ...message, signature })),
  (text) => run({ requestId, signature: { ...signature, value: text } }),
];
const address = { action: 'decide', namespace: 'default', workflowId: 'w' } as const;
const directory = { people: { ann: { groups: ['a'], keys: ['k'] } } };
const ceiling = { reviewerKeys: { k: { publicKey: `${'A'.repeat(43)}=`, operator: false } }, directory } as never;

export const messageInputs: Inputs = {
  'assess/assess.ts assess': assessed((call) => assess(call, assessRules)),
  'core/assess/assessment.ts joinAssessments': (text) =>
    joinAssessments([
      {
        severity: 'low',
        reasons: pieces(text),
        affectedResources: [text],
        reversible: true,
        recommendations: pieces(text),
        requiresApproval: true,
        fromWorker: pieces(text),
      },
    ]),
  'assess/assess.ts assessBuiltIn': assessed(assessBuiltIn),
  'assess/finding.ts viewCall': assessed(viewCall),
  'assess/commands.ts commandWords': { most: longestCommand, runs: [commandWords] },
  'assess/commands.ts programsIn': {
    most: longestCommand,
    runs: [(text) => programsIn(text.split(' ')), (text) => programsIn(['sudo', ...pieces(text)])],
  },
  'assess/commands.ts namesCommand': namesCommand,
  'assess/commands.ts runsCommands': runsCommands,
  'assess/commands.ts assessCommandText': {
    most: longestCommand,
    runs: [assessCommandText, (text) => assessCommandText(`sudo ${text.slice(5)}`)],
  },
  'assess/files.ts assessPath': (text) => assessPath(text, 'deleting'),
  'assess/network.ts hostKind': [hostKind, (text) => hostKind(`[${text}]`)],
  'assess/money.ts readAmount': readAmount,
  'assess/finding.ts nameWords': nameWords,
  'assess/finding.ts holdsWord': (text) => holdsWord(pieces(text), new Set(['to'])),
  'assess/finding.ts isNamed': (text) => isNamed(pieces(text), new Set(['to'])),
  'assess/network.ts assessAddress': [
    (text) => assessAddress(text, true),
    (text) => assessAddress(`https://${text}`.slice(0, 8_000), true),
  ],
  'assess/files.ts readPath': readPath,
  'core/policy/recorded-assessment.ts assessRecorded': assessed((call) => assessRecorded(call, assessRules)),
  'assess/statements.ts assessStatements': {
    most: longestStatement,
    runs: [(text) => assessStatements(text, true)],
  },
  'core/people/delegation.ts seatsOf': (text) => seatsOf([{ from: 'ann', to: 'bob' }], text),
  'core/people/delegation.ts Seats.of': (text) => new Seats([{ from: 'ann', to: 'bob' }]).of(text),
  'core/people/delegation.ts withDelegates': (text) =>
    withDelegates(pieces(text), [{ from: text, to: text }, ...pieces(text).map((from) => ({ from, to: text }))]),
  'core/people/directory.ts personKey': personKey,
  'core/people/directory.ts isSamePerson': (text) => isSamePerson(text, `${text} `),
  'core/people/delegation.ts Seats.nameOf': (text) => new Seats([{ from: 'bob', to: text }]).nameOf(text),
  'core/people/delegation.ts Seats.holderOf': (text) => new Seats([{ from: text, to: 'bob' }]).holderOf(text),
  'core/people/delegation.ts Seats.seatOf': (text) => new Seats([{ from: 'ann', to: text }]).seatOf('ann'),
  'core/people/directory.ts isOneOf': (text) => isOneOf(directory, text, ['group:a', 'ann']),
  'core/people/directory.ts isAmong': [
    (text) => isAmong(directory, ['group:a', 'ann'])(text),
    (text) => isAmong(directory, pieces(text))('ann'),
  ],
  'core/people/directory.ts allIdsOf': (text) => allIdsOf(directory, [text]),
  'core/people/directory.ts membersOf': (text) => membersOf(directory, [text]),
  'core/people/directory.ts membersOfOne': (text) => membersOfOne(directory, text),
  'core/people/directory.ts groupOf': [groupOf, (text) => groupOf(`group:${text}`)],
  'core/people/revoked.ts revokedOf': (text) =>
    revokedOf({ keys: [text], people: [text] }, { reviewerId: text, keyId: 'k' }),
  'core/people/revoked.ts revokedSentence': revokedSentence,
  'core/people/revoked.ts readRevoked': [readRevoked, (text) => readRevoked({ keys: [text], people: text })],
  'core/people/directory.ts widely': widely,
  'core/people/entitlement.ts isCaller': (text) => isCaller({ callerUserId: text } as never, text),
  'core/people/directory.ts personKeyIn': [
    (text) => personKeyIn({ people: { ann: { also: [text] }, [text]: { also: ['u-1'] } } })(text),
    (text) => personKeyIn({ people: { [text]: { also: pieces(text) } } })(text),
  ],
  'core/people/directory.ts namesIn': (text) => namesIn({ [text]: { name: text } }, [text], personKey),
  'core/people/directory.ts personOf': (text) => personOf(directory, text),
  'text/console-line.ts readConsoleLine': readConsoleLine,
  'core/messages/control.ts decisionDigest': decided((decision) => decisionDigest(decision as never)),
  'core/messages/control.ts contentDigest': objects((message) => contentDigest('revoke', message)),
  'core/messages/control.ts readExtend': control(readExtend, 'requestId', 'until', 'by', 'messageId'),
  'core/messages/control.ts readDelegate': control(readDelegate, 'requestId', 'to', 'reason'),
  'core/messages/control.ts readRevoke': control(readRevoke, 'grants', 'denials', 'tool'),
  'core/messages/control.ts readSetPolicy': control(readSetPolicy, 'policy', 'mode', 'channels'),
  'core/messages/control.ts readUserMessage': [
    ...control(readUserMessage, 'content', 'files'),
    (text) => readUserMessage({ content: text, files: [{ mediaType: text, url: text, filename: text }] }),
  ],
  'core/messages/control.ts userMessageDigest': (text) => userMessageDigest({ content: text }),
  'core/messages/control.ts readClose': control(readClose, 'reason'),
  'core/messages/control.ts messageIdOf': (text) => messageIdOf({ signature: { ...signature, value: text } }),
  'core/messages/control.ts instantMs': instantMs,
  'core/messages/decision.ts parseDecision': [...decided(parseDecision), ...values(parseDecision)],
  'core/messages/decision.ts sameDecision': decided((decision) => sameDecision(decision as never, decision as never)),
  'core/messages/decision.ts isRequestId': isRequestId,
  'core/messages/decision.ts signatureProblem': [
    signatureProblem,
    (text) => signatureProblem({ ...signature, value: text }),
  ],
  'core/messages/sender.ts verifiedSender': signed((message) =>
    verifiedSender({ ...address, message: message as never }, ceiling),
  ),
  'core/messages/sender.ts claimedSender': (text) =>
    claimedSender({ action: 'decide', message: { reviewerId: text, signature } }, ceiling),
  'core/messages/signature.ts signedText': signed((message) => signedText({ ...address, message: message as object })),
  'core/messages/signature.ts verifySignature': signed((message) =>
    verifySignature({ ...address, message: message as object, publicKey: `${'A'.repeat(43)}=` }),
  ),
  'core/messages/viewed.ts viewedProblem': [
    viewedProblem,
    (text) => viewedProblem({ card: text }),
    (text) => viewedProblem({ channel: text, [text]: 1 }),
  ],
  'client/inbox/delegate-all.ts requestKey': (text) => requestKey(text, text),
  'client/inbox/delegate-all.ts answerableIn': [
    ...values((answer) => answerableIn(answer, 'w', 'bob')),
    (text) => answerableIn([listed({ approvers: pieces(text) })], 'w', text),
    (text) => answerableIn([listed({ reviewers: pieces(text) })], 'w', text),
    (text) => answerableIn([listed({ approvers: [text], people: { [text]: { also: pieces(text) } } })], 'w', text),
  ],
  'client/inbox/standing-delegations.ts readProgress': [
    ...values(readProgress),
    (text) => readProgress({ delegated: 1, tried: pieces(text), left: pieces(text).map((message) => ({ message })) }),
  ],
  'client/inbox/standing-delegations.ts standingDelegationId': standingDelegationId,
  'client/inbox/standing-delegations.ts readStanding': [
    quiet((input) => readStanding(input, 0)),
    (text) => quiet((input) => readStanding(input, 0))({ by: text, to: 'eve', untilAt: '1970-01-31T12:00:00Z' }),
    (text) =>
      quiet((input) => readStanding(input, 0))({ by: 'bob', to: text, reason: text, untilAt: text, [text]: text }),
  ],
  'client/inbox/standing-delegations.ts untilAtOf': quiet((until: string) => untilAtOf(until, 0)),
};

/** A request that query `approvals` lists. */
function listed(members: object): object {
  return { requestId: 'a'.repeat(32), workflowId: 'w', toolName: 'pay', ...members };
}

/** Refusals are thrown. */
function quiet<Given>(call: (given: Given) => unknown): (given: Given) => unknown {
  return (given) => {
    try {
      return call(given);
    } catch (error) {
      return (error as Error).message;
    }
  };
}
