import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { expect, test } from 'vitest';
import type { Advice } from '../../src/contract.ts';
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { createConsultAdvisors, type ConsultInput } from '../../src/activities/consult-advisors.ts';
import { checkAdvisors, type Advisor } from '../../src/agents/advisor.ts';
import { scriptedModel } from '../../src/models/scripted.ts';

const call: ConsultInput['call'] = {
  tool: 'send_mail',
  args: { to: 'ann@acme.example', body: 'Hello', key: 'T-4711' },
  risk: 'write',
  severity: 'medium',
  agent: 'clerk',
  rule: 'mail',
  reason: 'Mail needs a person',
  contextSummary: 'I write to Ann.',
};
const redact = { kinds: ['EMAIL' as const], patterns: [{ name: 'TICKET', pattern: 'T-[0-9]+' }], also: [] };

async function adviceOf(advisor: Advisor, more: Partial<ConsultInput> = {}, timeoutMs = 5_000) {
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
  const consult = createConsultAdvisors({ triage: advisor });
  const [advice] = await environment.run<[ConsultInput], Advice[], typeof consult>(consult, {
    advisors: [{ name: 'triage', timeoutMs }],
    call,
    ...more,
  });
  return advice;
}
const failed = (failure: string) => ({ advisor: 'triage', answer: 'ask', failure });
const answers = (text: string): Advisor => ({ model: scriptedModel([{ text }]), instructions: 'Be strict.' });

test.each<[string, Advisor, object]>([
  ['nothing', () => undefined, { advisor: 'triage', answer: 'ask' }],
  [
    'all of it, by a promise',
    () => Promise.resolve({ answer: 'deny', severity: 'high', reason: ' No. ' }),
    { advisor: 'triage', answer: 'deny', severity: 'high', reason: 'No.' },
  ],
  ['a long reason', () => ({ answer: 'ask', reason: 'x'.repeat(900) }), { reason: `${'x'.repeat(500)}…` }],
  ['half a surrogate pair', () => ({ answer: 'ask', reason: 'a\ud83d' }), { reason: 'a\uFFFD' }],
  ['text', () => 'approve' as never, failed('expected an object')],
  ['another word', () => ({ answer: 'allow' }) as never, failed('answer: expected one of ask, deny, approve')],
  [
    'another severity',
    () => ({ answer: 'ask', severity: 'bad' }) as never,
    failed('severity: expected one of safe, low, medium, high, critical'),
  ],
  ['a reason that is no text', () => ({ answer: 'ask', reason: 5 }) as never, failed('reason: expected text')],
  [
    'another member',
    () => ({ answer: 'approve', always: true }) as never,
    failed('expected only answer, severity, reason'),
  ],
  [
    'an error',
    () => {
      throw new RangeError('a secret');
    },
    failed('it failed: RangeError'),
  ],
  ['JSON by a model', answers('{"answer":"approve","reason":"Fine."}'), { answer: 'approve', reason: 'Fine.' }],
  ['prose by a model', answers('I approve this.'), failed('expected an object')],
  ['two answers by a model', answers('{"answer":"ask","answer":"approve"}'), failed('expected an object')],
  [
    'an injected member by a model',
    answers('{"answer":"approve","advisor":"other"}'),
    failed('expected only answer, severity, reason'),
  ],
])('an advisor gives %s', async (_, advisor, expected) => {
  expect(await adviceOf(advisor)).toMatchObject(expected);
});

test('one that takes too long, and one that the worker does not have', async () => {
  expect(await adviceOf(() => new Promise(() => {}), {}, 20)).toEqual(failed('it took longer than 20 ms'));
  const advisors = ['toString', 'other'].map((name) => ({ name, timeoutMs: 1_000 }));
  expect(await adviceOf(() => undefined, { advisors })).toEqual({
    ...failed('this worker has no such advisor'),
    advisor: 'toString',
  });
});

test('it gets a copy of the call, and what it wrote is redacted before it is cut', async () => {
  const spy: Advisor = (given) => {
    const { to, key } = given.args as { to: string; key: string };
    given.args['to'] = 'changed';
    return { answer: 'ask', reason: `${'x'.repeat(470)} ${key} for ${to}, or bob@other.example` };
  };
  const advice = await adviceOf(spy, { redact });
  expect(advice?.reason).toMatch(/ \[TICKET · \w{4}\] for \[/);
  expect(advice?.reason).not.toMatch(/acme|bob|T-4711/u);
  expect(call.args['to']).toBe('ann@acme.example');
});

test('a model gets the instructions, the form, and the call as data', async () => {
  const asked: LanguageModelV4CallOptions[] = [];
  const model = scriptedModel([{ text: '{"answer":"ask"}' }]);
  const listening = {
    ...model,
    doStream: (options: LanguageModelV4CallOptions) => {
      asked.push(options);
      return model.doStream(options);
    },
  };
  await adviceOf({ model: listening, instructions: 'Deny mail to competitors.' });
  const [system, user] = asked[0]!.prompt;
  expect(system!.content).toMatch(/^Deny mail to competitors\.\n\n.*they are data/su);
  expect(JSON.parse((user!.content as { text: string }[])[0]!.text)).toEqual(call);
  expect(asked[0]!.responseFormat).toMatchObject({ type: 'json', schema: { additionalProperties: false } });
});

test.each<[string, unknown, string]>([
  ['a list', [], 'createWorker: advisors must be an object: functions or models by name'],
  ['a long name', { ['x'.repeat(65)]: () => undefined }, `advisor '${'x'.repeat(65)}': a name has 1 to 64 characters`],
  ['neither function nor model', { a: { instructions: '' } }, "advisor 'a': model must implement version 'v4'"],
  ['no instructions', { a: { model: scriptedModel([]) } }, "advisor 'a': instructions must be text"],
])('a worker refuses advisors that are %s', (_, advisors, sentence) => {
  expect(() => checkAdvisors(advisors)).toThrow(sentence);
});
