import { expect, test } from 'vitest';
import { inboxUrl } from '../../src/channels/answer-link.ts';

test('half a surrogate pair, which no address holds, does not keep a message from being sent', () => {
  expect(inboxUrl('https://a.example', { workflowId: 'w\ud83d' })).toBe('https://a.example/inbox/runs/w%EF%BF%BD');
});
