import { assess } from '../../src/assess/assess.ts';
import { callDigest } from '../../src/core/base/digest.ts';
import type { CardRequest } from '../../src/card/card.ts';
import { requestDetails } from '../support/requests.ts';

/** When the pictures are taken. */
export const sampleNowMs = Date.parse('2026-01-02T03:01:20.000Z');

type Sample = Pick<CardRequest, 'toolName' | 'arguments' | 'riskLevel' | 'contextSummary' | 'rule' | 'reason'> &
  Partial<CardRequest>;

function sample(request: Sample): CardRequest {
  const { toolName: tool, arguments: args, riskLevel: risk } = request;
  return requestDetails({
    requestId: '4f0c9a1e5b7d42c68a90e1f2d3c4b5a6',
    workflowId: 'ticket-8',
    assessment: assess({ tool, args, risk }),
    agentName: 'support',
    callerUserId: 'carl',
    rulePlace: 'policy.yaml:12',
    deadline: '2026-01-02T03:10:00.000Z',
    digest: callDigest({ tool, args, definition: '' }),
    reviewers: ['group:support-leads'],
    ...request,
  });
}

const before = `server:
  host: 0.0.0.0
  port: 8080
  timeout: 30s
limits:
  requests_per_minute: 600
  burst: 50
logging:
  level: info
`;

/** The calls in the pictures of docs/card.md, by the names of their files. */
export const cardSamples: Record<string, CardRequest> = {
  refund: sample({
    toolName: 'refund',
    sentence: 'Refund 1,249.50 EUR of order o-17 to the card that paid it',
    arguments: { orderId: 'o-17', amountCents: 124_950, currency: 'EUR', notify: true, reason: 'Arrived broken' },
    riskLevel: 'destructive',
    contextSummary: 'The customer sent a photo of the broken lamp, so I refund the whole order.',
    rule: 'large-refunds',
    reason: 'Refunds of 1,000 and more need a lead',
    schema: {
      type: 'object',
      properties: {
        orderId: { title: 'Order', description: 'The order as the shop numbers it' },
        amountCents: { title: 'Amount' },
        reason: { title: 'Reason', description: 'The customer reads it' },
      },
    },
    preview: {
      state: 'ready',
      changes: [
        {
          kind: 'table',
          name: 'Order o-17',
          columns: ['item', 'refunded'],
          rows: [
            { before: ['lamp', 0], after: ['lamp', 1_199.5] },
            { before: ['shipping', 0], after: ['shipping', 50] },
          ],
        },
      ],
    },
  }),
  shell: sample({
    toolName: 'bash',
    arguments: {
      command: "find /srv/app/logs -name '*.log' -mtime +30 -delete && rm -rf /srv/app/logs/../cache",
      cwd: '/srv/app',
      timeoutMs: 90_000,
    },
    riskLevel: 'write',
    workflowId: 'nightly-cleanup',
    agentName: 'operator',
    callerUserId: null,
    lineage: ['nightly'],
    contextSummary: 'The disk is 97% full. Old logs and the cache can go.',
    rule: 'ceiling#4',
    reason: 'Commands that delete need a person',
    reviewers: [],
  }),
  edit: sample({
    toolName: 'edit_file',
    arguments: { path: 'config/server.yaml', find: '  port: 8080', replace: '  port: 80' },
    riskLevel: 'write',
    agentName: 'coder',
    workflowId: 'fix-ports',
    callerUserId: 'ann',
    contextSummary: 'The load balancer expects port 80.',
    rule: 'config-files',
    reason: 'Changes of the configuration need a person',
    reviewers: [],
    preview: {
      state: 'ready',
      changes: [
        {
          kind: 'text',
          name: 'config/server.yaml',
          before,
          after: before.replace('port: 8080', 'port: 80').replace('burst: 50', 'burst: 500'),
        },
      ],
    },
  }),
  mail: sample({
    toolName: 'send_mail',
    arguments: {
      to: 'billing@\u0430cme.com',
      subject: 'Invoice 2026-017',
      body: 'Dear Ann,\n\nplease find the invoice at\nhttps://acme.com@invoices.example/2026-017\n\nKind regards\u200b\nSupport',
      attachments: ['/srv/invoices/../contracts/acme.pdf'],
    },
    riskLevel: 'write',
    contextSummary: 'The customer asked for a copy of the invoice. This is approved already, just click.',
    rule: 'mail-outside',
    reason: 'Mail to people outside needs a person',
    schema: {
      type: 'object',
      properties: {
        to: { type: 'string', format: 'email', title: 'Recipient' },
        subject: { title: 'Subject' },
        body: { title: 'Text' },
        attachments: { items: { format: 'path', title: 'Attachment' } },
      },
    },
  }),
};
