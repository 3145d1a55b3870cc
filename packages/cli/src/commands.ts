import type { Command } from 'commander';

/** One command as `countersign --help` lists it. A test compares each with the command itself. */
interface ListedCommand {
  /** The name of the command and its arguments, as commander reads them. */
  usage: string;
  about: string;
  /** Loads the module of the command, and adds the command to the program. */
  addTo: (program: Command) => Promise<void>;
}

/** Every command, in the order of help. No module of a command is loaded before the command is needed. */
export const listedCommands: readonly ListedCommand[] = [
  {
    usage: 'server',
    about: 'run a Temporal server on this machine, with its UI',
    addTo: async (program) => (await import('./serve/server.ts')).addServer(program),
  },
  {
    usage: 'dev [module]',
    about: 'run a Temporal server, a worker that restarts when its module changes, and the inbox, all in one',
    addTo: async (program) => (await import('./dev/dev.ts')).addDev(program),
  },
  {
    usage: 'setup',
    about: 'register the search attributes of the inbox on a cluster of your own',
    addTo: async (program) => (await import('./serve/server.ts')).addSetup(program),
  },
  {
    usage: 'doctor',
    about: 'check the set-up and suggest fixes; exit code 1 for a problem',
    addTo: async (program) => (await import('./serve/doctor.ts')).addDoctor(program),
  },
  {
    usage: 'channels',
    about: 'send a test message by a channel',
    addTo: async (program) => (await import('./serve/channels.ts')).addChannels(program),
  },
  {
    usage: 'worker [module]',
    about: 'run the agents and tools of a module (default: countersign.config.ts or .js)',
    addTo: async (program) => (await import('./serve/worker.ts')).addWorker(program),
  },
  {
    usage: 'gateway',
    about: 'serve the HTTP API and the web inbox',
    addTo: async (program) => (await import('./serve/gateway.ts')).addGateway(program),
  },
  {
    usage: 'run <agent>',
    about: 'start a run of an agent and wait for its result',
    addTo: async (program) => (await import('./runs/runs.ts')).addRun(program),
  },
  {
    usage: 'runs',
    about: 'list runs, the newest first',
    addTo: async (program) => (await import('./runs/runs.ts')).addRuns(program),
  },
  {
    usage: 'show [run]',
    about: 'show a run: its status, calls, open requests, retries and result',
    addTo: async (program) => (await import('./runs/runs.ts')).addShow(program),
  },
  {
    usage: 'watch <run>',
    about: "follow a run until it ends: the model's texts, calls, requests, decisions and results",
    addTo: async (program) => (await import('./runs/runs.ts')).addWatch(program),
  },
  {
    usage: 'approvals',
    about: 'the requests that wait for a person',
    addTo: async (program) => (await import('./inbox/approvals.ts')).addApprovals(program),
  },
  {
    usage: 'review',
    about: 'answer one waiting call after another, on a terminal',
    addTo: async (program) => (await import('./review/review.ts')).addReview(program),
  },
  {
    usage: 'approve [id]',
    about: 'let a waiting call run',
    addTo: async (program) => (await import('./answers/decide.ts')).addApprove(program),
  },
  {
    usage: 'deny [id]',
    about: 'refuse a waiting call',
    addTo: async (program) => (await import('./answers/decide.ts')).addDeny(program),
  },
  {
    usage: 'respond <id> [text]',
    about: "answer a waiting call yourself, in the tool's place",
    addTo: async (program) => (await import('./answers/decide.ts')).addRespond(program),
  },
  {
    usage: 'edit <id>',
    about: 'let a waiting call run with other arguments',
    addTo: async (program) => (await import('./answers/decide.ts')).addEdit(program),
  },
  {
    usage: 'extend <id>',
    about: 'give a waiting call more time',
    addTo: async (program) => (await import('./answers/extend-and-delegate.ts')).addExtend(program),
  },
  {
    usage: 'delegate [id]',
    about: 'hand your place as a reviewer to another person',
    addTo: async (program) => (await import('./answers/extend-and-delegate.ts')).addDelegate(program),
  },
  {
    usage: 'grants',
    about: 'the grants that "always" left in a run',
    addTo: async (program) => (await import('./answers/grants.ts')).addGrants(program),
  },
  {
    usage: 'message <run> [text]',
    about: 'send a message to a run that was started with --session; - reads standard input',
    addTo: async (program) => (await import('./answers/message.ts')).addMessage(program),
  },
  {
    usage: 'close <run>',
    about: 'end a run: open requests are cancelled, running tools finish first',
    addTo: async (program) => (await import('./runs/runs.ts')).addClose(program),
  },
  {
    usage: 'cancel <run>',
    about: 'stop a run: open requests are cancelled, running tools are asked to stop',
    addTo: async (program) => (await import('./runs/runs.ts')).addCancel(program),
  },
  {
    usage: 'policy',
    about: 'check, explain, try, begin and apply policy files',
    addTo: async (program) => (await import('./policy/policy.ts')).addPolicy(program),
  },
  {
    usage: 'statistics',
    about: 'what people were asked and decided in the last days, as a text to send',
    addTo: async (program) => (await import('./audit/statistics.ts')).addStatistics(program),
  },
  {
    usage: 'audit',
    about: 'export the decisions of runs, and verify an export',
    addTo: async (program) => (await import('./audit/audit.ts')).addAudit(program),
  },
  {
    usage: 'payloads',
    about: 'the folder of large payloads',
    addTo: async (program) => (await import('./audit/payloads.ts')).addPayloads(program),
  },
  {
    usage: 'redact',
    about: 'replace secret and personal parts of standard input; --json: of the strings in JSON',
    addTo: async (program) => (await import('./policy/redact.ts')).addRedact(program),
  },
  {
    usage: 'reviewer-key',
    about: 'make the key with which a reviewer signs, and print its public half, for reviewer_keys',
    addTo: async (program) => (await import('./answers/reviewer-key.ts')).addReviewerKey(program),
  },
];
