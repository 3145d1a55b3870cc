import type { Command } from 'commander';

const examples: Record<string, readonly string[]> = {
  '': [
    'countersign worker agent.ts',
    "countersign run support --input 'Please refund order o-17'",
    'countersign approvals',
    'countersign approve 4f0c9a1e',
  ],
  server: ['countersign server', 'countersign server --port 0 --ui-port 0', 'countersign server --db temporal.db'],
  dev: ['countersign dev', 'countersign dev agent.ts --gateway-port 0 --port 0 --ui-port 0'],
  setup: [
    'countersign setup',
    'countersign setup --address temporal.internal:7233 --namespace agents',
    'countersign setup --profile cloud',
  ],
  doctor: ['countersign doctor', 'countersign doctor --send', 'countersign doctor --task-queue support --json'],
  channels: ['countersign channels test team --json'],
  'channels test': ['countersign channels test team', 'countersign channels test team --json'],
  worker: ['countersign worker', 'countersign worker agent.ts --task-queue support'],
  gateway: [
    'countersign gateway',
    'countersign gateway --port 0 --temporal-ui http://127.0.0.1:8233',
    'countersign gateway --host 0.0.0.0 --identity identity.yaml',
  ],
  run: [
    "countersign run support --input 'Please refund order o-17'",
    'countersign run support --input - --id ticket-8 --detach < ticket.txt',
    "countersign run support --input 'Please refund order o-17' --key order-o-17",
    "countersign run tidy --input 'Please tidy up' --policy strict.yaml --caller carl",
    "countersign run support --input 'Where is order o-17?' --session --id chat-3",
  ],
  runs: [
    'countersign runs',
    'countersign runs --status waiting --agent support',
    'countersign runs --json workflowId,status',
  ],
  show: [
    'countersign show ticket-8',
    'countersign show ticket-8 --json status,result',
    'countersign show ticket-8 --events',
    'countersign show --events --file history.json',
  ],
  watch: [
    'countersign watch ticket-8',
    'countersign watch ticket-8 --no-tokens --json',
    'countersign watch ticket-8 --after 01a204fe-da0d-7dc9-88f6-adf659162127.19.0',
  ],
  approvals: ['countersign approvals', 'countersign approvals show 4f0c9a1e'],
  'approvals preview': [
    `echo '{"tool":"refund","args":{"amount":20}}' | countersign approvals preview`,
    'countersign approvals preview --channel html < call.json > card.html',
  ],
  'approvals list': [
    'countersign approvals',
    'countersign approvals --json requestId,toolName',
    'countersign approvals --tool refund --agent support',
    'countersign approvals --watch --interval 5s',
    'countersign approvals --limit 20',
  ],
  'approvals show': ['countersign approvals show 4f0c9a1e', 'countersign approvals show 4f0c9a1e --all'],
  review: [
    'countersign review',
    'countersign review --run ticket-8',
    'countersign review --tool refund --reviewer ann',
  ],
  approve: [
    'countersign approve 4f0c9a1e',
    'countersign approve 4f0c9a1e --always call --uses 3',
    "countersign approve 4f0c9a1e --always arguments --match 'to=*@acme.com' --expires 1h",
    'countersign approve --all --tool refund --agent support',
  ],
  deny: [
    "countersign deny 4f0c9a1e --reason 'The order is older than a year'",
    'countersign deny 4f0c9a1e --always tool',
    "countersign deny --all --run ticket-8 --yes --reason 'The shop is closed'",
  ],
  respond: [
    "countersign respond 4f0c9a1e 'Paid by hand.'",
    `countersign respond 4f0c9a1e --json-value '{"paid":true}'`,
  ],
  edit: [
    `countersign edit 4f0c9a1e --args '{"orderId":"o-17","amount":15}'`,
    'countersign edit 4f0c9a1e --args @args.json',
  ],
  extend: ['countersign extend 4f0c9a1e --for 30m', 'countersign extend 4f0c9a1e --until 2030-01-31T12:00:00Z'],
  delegate: [
    "countersign delegate 4f0c9a1e --to ann --reason 'Out of office'",
    'countersign delegate --all --to ann --until 2030-12-24',
    'countersign delegate --list',
    'countersign delegate --stop',
  ],
  grants: ['countersign grants ticket-8', 'countersign grants revoke ticket-8 grant-1'],
  'grants list': ['countersign grants ticket-8', 'countersign grants list ticket-8 --json grantId,tool,scope'],
  'grants revoke': [
    'countersign grants revoke ticket-8 grant-1 grant-2',
    'countersign grants revoke ticket-8 --all --reason done',
  ],
  message: ["countersign message chat-3 'And order o-18?'", 'countersign message chat-3 - --by carl < question.txt'],
  close: ['countersign close ticket-8', "countersign close ticket-8 --reason 'The customer withdrew'"],
  cancel: ['countersign cancel ticket-8', "countersign cancel ticket-8 --reason 'Started by mistake'"],
  policy: ['countersign policy init', 'countersign policy check policy.yaml'],
  'policy check': ['countersign policy check policy.yaml', 'countersign policy check policy.yaml --as ceiling'],
  'policy explain': [
    `countersign policy explain policy.yaml --tool refund --risk destructive --args '{"amount":20}'`,
    `countersign policy explain policy.yaml --tool refund --args '{"amount":20}' --sums '{"refund":{"amount":990}}'`,
    `countersign policy explain policy.yaml --tool bash --args '{"command":"git log"}' --subject '{"argument":"command","shell":true}'`,
  ],
  'policy eval': [
    'countersign policy eval policy.yaml --cases calls.jsonl',
    `echo '{"tool":"refund","args":{}}' | countersign policy eval policy.yaml --cases -`,
  ],
  'policy init': [
    'countersign policy init',
    'countersign policy init policy.yaml --preset practical',
    'countersign policy init --list',
  ],
  'policy apply': [
    'countersign policy apply ticket-8 strict.yaml',
    "countersign policy apply ticket-8 --mode plan --reason 'Look, and change nothing'",
    'countersign policy apply --all strict.yaml --dry-run',
    `countersign policy apply --query "WorkflowType='agentRun'" --mode plan --yes --json workflowId,outcome`,
  ],
  statistics: [
    'countersign statistics',
    'countersign statistics --since 1d --json openCount,open',
    'countersign statistics --markdown | mail -s Approvals team@acme.com',
  ],
  audit: ['countersign audit ticket-8 > audit.jsonl', 'countersign audit verify audit.jsonl'],
  'audit export': [
    'countersign audit ticket-8 --sign operator.pem > audit.jsonl',
    'countersign audit ticket-8 --redact --withhold agent > redacted.jsonl',
    'countersign audit --query \'WorkflowType="agentRun"\' --csv > audit.csv',
    'countersign audit ticket-8 --html report.html',
  ],
  'audit verify': [
    'countersign audit verify audit.jsonl',
    'countersign audit verify audit.jsonl --key fMiWrdePYVA1tweA4kMc3aX63dVsdFSWfLYl1xTQ1AU= --live',
    'countersign audit verify new.jsonl --since old.jsonl',
  ],
  payloads: ['countersign payloads clean --dry-run'],
  'payloads clean': [
    'countersign payloads clean --dry-run',
    'countersign payloads clean --folder /srv/payloads --older-than 7d',
  ],
  redact: ['countersign redact < ticket.txt', 'countersign redact --json --policy countersign.policy.yaml < call.json'],
  'reviewer-key': ['countersign reviewer-key --out ann.pem', 'countersign reviewer-key --of ann.pem'],
};

export function addExamples(command: Command, path: readonly string[] = []): void {
  const lines = examples[path.join(' ')] ?? [];
  if (lines.length > 0) command.addHelpText('after', ['', 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n'));
  for (const each of command.commands) addExamples(each, [...path, each.name()]);
}
