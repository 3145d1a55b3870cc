import { z } from 'zod';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import type { Agent } from '../../../src/agents/definitions.ts';
import { type ScriptedTurn, scriptedModel } from '../../../src/models/scripted.ts';

/** What users say to the agents of the inbox's stage, and what the agents then do. */
export const scripts = {
  broken: 'My lamp arrived broken, order o-17.',
  late: 'Where is my parcel, order o-21?',
  logs: 'The disk of web-2 is full.',
  config: 'Give customers more requests per minute.',
  odd: 'Please pay the attached invoice.',
  twice: 'I was charged twice for order o-30.',
} as const;

const turns: Record<keyof typeof scripts, ScriptedTurn[]> = {
  broken: [
    { text: 'Let me look at the order.', calls: [{ tool: 'find_order', args: { orderId: 'o-17' } }] },
    {
      text: 'The customer sent a photo of the broken lamp, so I refund the whole order.',
      calls: [{ tool: 'refund', args: { orderId: 'o-17', amount: 1_249.5, reason: 'Arrived broken' } }],
    },
    { text: 'I have refunded order o-17.' },
  ],
  late: [
    {
      text: 'The parcel is lost, so I write to the customer.',
      calls: [
        {
          tool: 'send_mail',
          args: {
            to: 'carl@example.com',
            subject: 'Your order o-21',
            body: 'Dear Carl,\n\nyour parcel is lost. We send another one today.\n\nYour shop',
          },
        },
      ],
    },
    { text: 'Carl knows.' },
  ],
  logs: [
    {
      text: 'Old logs fill the disk, so I delete those older than 30 days.',
      calls: [
        { tool: 'bash', args: { command: "find /srv/app/logs -name '*.log' -mtime +30 -delete", cwd: '/srv/app' } },
      ],
    },
    { text: 'There is room again.' },
  ],
  config: [
    {
      text: 'I raise the limit in the configuration.',
      calls: [{ tool: 'write_config', args: { path: 'server.yaml', requestsPerMinute: 600 } }],
    },
    { text: 'Done.' },
  ],
  odd: [
    {
      text: 'I pay the invoice.',
      calls: [{ tool: 'refund', args: { orderId: 'o-\u202E71', amount: 9_900, reason: 'раypal invoice \u200B' } }],
    },
    { text: 'Done.' },
  ],
  twice: [
    { calls: [{ tool: 'refund', args: { orderId: 'o-30', amount: 40, reason: 'Charged twice' } }] },
    { text: 'Refunded.' },
  ],
};

const config = (limit: number): string =>
  `server:\n  port: 8080\nlimits:\n  requests_per_minute: ${limit}\n  burst: 50\n`;

/** The agents of the inbox's stage: they play the turns that belong to the user's first message. */
export function inboxAgents(): Agent[] {
  const script = Object.fromEntries(
    Object.entries(scripts).map(([name, message]) => [message, turns[name as keyof typeof scripts]]),
  );
  const tools = [
    defineTool({
      name: 'find_order',
      description: 'Finds an order.',
      input: z.object({ orderId: z.string() }),
      risk: 'read_only',
      execute: ({ orderId }) => ({ orderId, item: 'Lamp', total: 1_249.5, state: 'delivered' }),
    }),
    defineTool({
      name: 'refund',
      description: 'Refunds an order.',
      input: z.object({
        orderId: z.string().describe('The order as the shop numbers it'),
        amount: z.number().describe('In euros'),
        reason: z.string().describe('The customer reads it'),
      }),
      subject: 'orderId',
      risk: 'destructive',
      show: ['orderId', 'amount'],
      execute: ({ orderId, amount }) => `refunded ${amount} for ${orderId}`,
    }),
    defineTool({
      name: 'send_mail',
      description: 'Sends a mail to a customer.',
      input: z.object({ to: z.string(), subject: z.string(), body: z.string() }),
      subject: 'to',
      show: ['to', 'subject'],
      execute: ({ to }) => `sent to ${to}`,
    }),
    defineTool({
      name: 'bash',
      description: 'Runs a command.',
      input: z.object({ command: z.string(), cwd: z.string().optional() }),
      subject: { argument: 'command', shell: true },
      show: ['command'],
      execute: () => 'deleted 31 files',
    }),
    defineTool({
      name: 'write_config',
      description: 'Changes the configuration of the server.',
      input: z.object({ path: z.string(), requestsPerMinute: z.int() }),
      show: ['path'],
      preview: ({ path, requestsPerMinute }) => [
        { kind: 'text', name: path, before: config(60), after: config(requestsPerMinute) },
      ],
      execute: ({ path }) => `wrote ${path}`,
    }),
  ];
  const model = scriptedModel({ default: [{ text: 'I cannot help with that.' }], ...script });
  return ['support', 'ops'].map((name) => defineAgent({ name, instructions: 'Help.', model, tools }));
}

/** The operator's policy of the stage, as a file. */
export const inboxPolicy = `rules:
  - id: mails
    pattern: send_mail
    action: ask
    reason: Customers read it
    ask: { timeout: 8h, always: arguments }
  - id: refunds
    pattern: refund
    action: ask
    reason: Money leaves the house
    ask: { reviewers: [rita, bob], timeout: 30m }
  - id: large-refunds
    pattern: refund
    when: args.amount >= 1000.0
    action: ask
    reason: Refunds of 1,000 and more need a lead
    ask: { reviewers: [rita], timeout: 10m, warn_before: 2m }
  - id: shells
    pattern: bash
    action: ask
    reason: Commands change servers
    ask: { timeout: 1h }
  - { pattern: write_config, action: ask, reason: Every customer feels it, ask: { timeout: 2h } }
  - { id: orders, pattern: find_order, action: allow }
`;
