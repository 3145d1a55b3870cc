import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The files of `test` that the gate, `npm test`, does not run: each tier has its command, and `npm run test:all` runs
 * everything. A file that is not listed is in the gate.
 */
export const tiers = {
  /** Pages in Chromium. */
  browser: [
    'e2e/inbox/!(whole-way)',
    'e2e/operators/temporal-ui',
    'e2e/examples/{front-ends,front-end-states,demo-inbox}',
  ],
  /** Commands, examples and services in processes of their own. */
  processes: [
    'e2e/examples/{demo,outside-project,agent-framework-examples,upgrade,order-example,readme}',
    'e2e/examples/{other-clients,api-examples,wire}',
    'e2e/operators/!(temporal-ui)',
    'adapters/cli/{dev,session,doctor,review,worker-end,server,watch-run,answer-all,unseen,connection-options}',
    'adapters/http/fuzz',
    'adapters/web-push/{run,command-line}',
    'client/{close,decide-all,set-policy-of-runs}',
    'dev-server/start-dev-server',
    'examples/channels/*',
  ],
  /** Crashes, outages, floods, and runs that take long. */
  recovery: [
    'e2e/recovery/!(reset|worker-killed)',
    'workflows/channels/{channel-lost,channel-not-at-fault,channel-conformance,channels,channels-continue}',
    'workflows/channels/{channels-slots,escalation}',
    'workflows/agent/{nested,nested-policy-change,large-payloads,ends,idempotency-keys,session-continued,tokens}',
    'workflows/agent/{external-references,pinned-version,conversation,providers,result-cache,mcp-server,advisors}',
    'workflows/messages/{byte-signals,message-flood,many-lookups,while-verifying,early-messages,late-decisions}',
    'workflows/messages/{poison,signed-messages,edits-and-what-follows,refused-controls,refused-updates}',
    'workflows/messages/{lifecycle-model,edits-and-deadlines}',
    'workflows/guarded/{forged-gate,ungated-calls,returns-desk}',
    'client/{stranger,control-run,recorded-before,audit,history-chain,clean-payloads,unknown-request,retrying}',
    'client/{transient-refusals,runs,events}',
    'adapters/http/{inbox-events,health,redaction,chat,chat-waits,chat-old-cards,run-events,sessions,matches}',
    'adapters/http/identity/signing',
    'adapters/slack/{clicks,updates,socket-mode,severity-cap,limits}',
    'adapters/email/links',
    'adapters/webhook/examples',
    'channels/{approval-queue,console-channel}',
  ],
  /** Properties over many cases, on a server, and what measures most. */
  laws: [
    'workflows/replay/{merged-tasks,random-runs-replay,untaken-events,late-tasks,withdrawn-task}',
    'workflows/replay/{projection,event-counts}',
    'workflows/replay/forged-past',
    'workflows/gate/{policy-language,previews,show,redaction,described-calls,bound-changes}',
    'foreign-text/{policy,ledger,audit,worker,channel,command-line}',
  ],
} as const satisfies Record<string, readonly string[]>;

/** Files of the gate that try a part of their cases there, and all in the tier `laws`. */
const laws = [
  'foreign-text/*',
  '**/*laws',
  'core/policy/{attacks,foreign-cases}',
  'policy-file/{lint-patterns,lint-policy}',
  'shell/split.fuzz',
];

/** Folders of `test` whose tests need the real Temporal server; one is started for all of them. */
const withServer = ['workflows', 'client', 'connection', 'adapters', 'dev-server', 'e2e', 'channels', 'examples'];

export type Tier = keyof typeof tiers | 'gate' | 'all';

/** In this order: one project's files run when those of the projects before have ended. */
export const projects = ['pure', 'durable', 'processes', 'browser'] as const;
export type Project = (typeof projects)[number];

/** Which tier `COUNTERSIGN_TEST_TIER` names: default `gate`. Throws for a name that is none. */
export function chosenTier(): Tier {
  const { COUNTERSIGN_TEST_TIER: name = 'gate' } = process.env;
  const names: readonly string[] = [...Object.keys(tiers), 'gate', 'all'];
  if (!names.includes(name)) throw new Error(`COUNTERSIGN_TEST_TIER is '${name}': use one of ${names.join(', ')}`);
  return name as Tier;
}

/** The test files of a tier, as paths from the root, by the project that runs them. */
export function filesOf(tier: Tier): Record<Project, string[]> {
  const files: Record<Project, string[]> = { pure: [], durable: [], processes: [], browser: [] };
  const inTiers = Object.values(tiers).flatMap(found);
  const all = found(['**/*']);
  for (const file of chosen()) files[projectOf(file)].push(file);
  return files;

  function chosen(): string[] {
    switch (tier) {
      case 'all':
        return all;
      case 'gate':
        return all.filter((file) => !inTiers.includes(file));
      case 'laws':
        return lawFiles();
      case 'browser':
      case 'processes':
      case 'recovery':
        return found(tiers[tier]);
    }
  }
}

/** The test files whose cases are random or many: those of the tier `laws`. */
export function lawFiles(): string[] {
  return found([...tiers.laws, ...laws]);
}

/** The test files that `patterns` name: paths from `test`, without `.test.ts`. */
export function found(patterns: readonly string[]): string[] {
  return [
    ...new Set(
      globSync(
        patterns.map((pattern) => `test/${pattern}.test.ts`),
        { cwd: root },
      ),
    ),
  ].toSorted();
}

const inBrowser = new Set([...found(tiers.browser), ...found(['e2e/inbox/*'])]);
const inProcesses = new Set([...found(tiers.processes), ...found(['e2e/**/*'])]);

function projectOf(file: string): Project {
  if (inBrowser.has(file)) return 'browser';
  if (inProcesses.has(file)) return 'processes';
  return withServer.includes(file.split('/')[1]!) ? 'durable' : 'pure';
}
