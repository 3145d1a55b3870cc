import type { Command } from 'commander';

/** A command as `countersign --help` lists it. A test compares it with the command itself. */
interface ListedCommand {
  /** The name of the command and its arguments, as commander reads them. */
  usage: string;
  about: string;
  /** Loads the module of the command. Returns the function that adds the command to the program. */
  load: () => Promise<(command: Command) => void>;
}

/** Every command, in the order of help. The module of a command is loaded only when the command is needed. */
export const listedCommands: readonly ListedCommand[] = [
  {
    usage: 'server',
    about: 'run a Temporal server on this machine, with its UI',
    load: async () => (await import('./serve/server.ts')).addServer,
  },
  {
    usage: 'dev [module]',
    about: 'run a Temporal server, a worker that restarts when its module changes, and the inbox, all in one',
    load: async () => (await import('./dev/dev.ts')).addDev,
  },
  {
    usage: 'setup',
    about: 'register the search attributes of the inbox on a cluster of your own',
    load: async () => (await import('./serve/server.ts')).addSetup,
  },
  {
    usage: 'doctor',
    about: 'check the set-up and suggest fixes; exit code 1 for a problem',
    load: async () => (await import('./serve/doctor.ts')).addDoctor,
  },
  {
    usage: 'channels',
    about: 'send a test message by a channel',
    load: async () => (await import('./serve/channels.ts')).addChannels,
  },
  {
    usage: 'worker [module]',
    about: 'run the agents and tools of a module (default: countersign.config.ts or .js)',
    load: async () => (await import('./serve/worker.ts')).addWorker,
  },
  {
    usage: 'gateway',
    about: 'serve the HTTP API and the web inbox',
    load: async () => (await import('./serve/gateway.ts')).addGateway,
  },
  {
    usage: 'run <agent>',
    about: 'start a run of an agent and wait for its result',
    load: async () => (await import('./runs/runs.ts')).addRun,
  },
  {
    usage: 'runs',
    about: 'list runs, the newest first',
    load: async () => (await import('./runs/runs.ts')).addRuns,
  },
  {
    usage: 'show [run]',
    about: 'show a run: its status, calls, open requests, retries and result',
    load: async () => (await import('./runs/runs.ts')).addShow,
  },
  {
    usage: 'watch <run>',
    about: "follow a run until it ends: the model's texts, calls, requests, decisions and results",
    load: async () => (await import('./runs/runs.ts')).addWatch,
  },
  {
    usage: 'approvals',
    about: 'the requests that wait for a person',
    load: async () => (await import('./inbox/approvals.ts')).addApprovals,
  },
  {
    usage: 'review',
    about: 'answer one waiting call after another, on a terminal',
    load: async () => (await import('./review/review.ts')).addReview,
  },
  {
    usage: 'approve [id]',
    about: 'let a waiting call run',
    load: async () => (await import('./answers/decide.ts')).addApprove,
  },
  {
    usage: 'deny [id]',
    about: 'refuse a waiting call',
    load: async () => (await import('./answers/decide.ts')).addDeny,
  },
  {
    usage: 'respond <id> [text]',
    about: "answer a waiting call yourself, in the tool's place",
    load: async () => (await import('./answers/decide.ts')).addRespond,
  },
  {
    usage: 'edit <id>',
    about: 'let a waiting call run with other arguments',
    load: async () => (await import('./answers/decide.ts')).addEdit,
  },
  {
    usage: 'extend <id>',
    about: 'give a waiting call more time',
    load: async () => (await import('./answers/extend-and-delegate.ts')).addExtend,
  },
  {
    usage: 'delegate [id]',
    about: 'hand your place as a reviewer to another person',
    load: async () => (await import('./answers/extend-and-delegate.ts')).addDelegate,
  },
  {
    usage: 'grants',
    about: 'the grants that "always" left in a run',
    load: async () => (await import('./answers/grants.ts')).addGrants,
  },
  {
    usage: 'message <run> [text]',
    about: 'send a message to a run that was started with --session; - reads standard input',
    load: async () => (await import('./answers/message.ts')).addMessage,
  },
  {
    usage: 'close <run>',
    about: 'end a run: open requests are cancelled, running tools finish first',
    load: async () => (await import('./runs/runs.ts')).addClose,
  },
  {
    usage: 'cancel <run>',
    about: 'stop a run: open requests are cancelled, running tools are asked to stop',
    load: async () => (await import('./runs/runs.ts')).addCancel,
  },
  {
    usage: 'policy',
    about: 'check, explain, try, begin and apply policy files',
    load: async () => (await import('./policy/policy.ts')).addPolicy,
  },
  {
    usage: 'statistics',
    about: 'what people were asked and decided in the last days, as a text to send',
    load: async () => (await import('./audit/statistics.ts')).addStatistics,
  },
  {
    usage: 'audit',
    about: 'export the decisions of runs, and verify an export',
    load: async () => (await import('./audit/audit.ts')).addAudit,
  },
  {
    usage: 'payloads',
    about: 'the folder of large payloads',
    load: async () => (await import('./audit/payloads.ts')).addPayloads,
  },
  {
    usage: 'redact',
    about: 'replace secret and personal parts of standard input; --json: of the strings in JSON',
    load: async () => (await import('./policy/redact.ts')).addRedact,
  },
  {
    usage: 'reviewer-key',
    about: 'make the key with which a reviewer signs, and print its public half, for reviewer_keys',
    load: async () => (await import('./answers/reviewer-key.ts')).addReviewerKey,
  },
];
