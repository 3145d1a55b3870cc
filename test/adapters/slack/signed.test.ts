import { afterAll, beforeAll, expect, test } from 'vitest';
import { createReviewerKey } from '../../../src/client/send/sign-message.ts';
import type { ApprovalDetails } from '../../../src/contract.ts';
import { openSlackWorld, type SlackWorld } from './slack-world.ts';
import { once, pay } from '../../support/team.ts';

const key = createReviewerKey();
const policy = {
  rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['ann', 'zoe'], verified: true } }],
  reviewer_keys: { gateway: { public_key: key.publicKey, signs_for: ['ann'] } },
};
let world: SlackWorld;
beforeAll(async () => {
  const signer = { keyId: 'gateway', privateKey: key.privateKey };
  world = await openSlackWorld({ ann: ['reviewer'], zoe: ['reviewer'] }, { policy }, { signer });
});
afterAll(() => world.close());

test.each([
  ['ann', 'Your answer counts: approved. You answered as ann.', 'verified'],
  ['zoe', expect.stringMatching(/^Nothing was changed: /), undefined],
])(
  'a rule that wants verified reviewers takes a click of those for whom the gateway signs: %s',
  async (person, told, identity) => {
    const user = await world.linked(person);
    const run = await world.start(once(pay('bob')));
    const [{ requestId }] = (await run.open()) as [ApprovalDetails];
    await world.notify([await world.details(run, requestId)]);
    await world.deliver(world.slack.click(user, world.slack.posts.at(-1)!, 'approve'));
    expect(await world.toldTo(user)).toEqual([told]);
    expect((await world.details(run, requestId)).settled?.identity).toBe(identity);
    await run.handle.terminate().catch(() => undefined);
  },
);
