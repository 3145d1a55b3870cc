import { formatDuration } from '../core/base/duration.ts';
import type { Risk } from '../core/base/tool-call.ts';
import { defaultAlways } from '../core/policy/grants.ts';
import type { Always } from '../core/policy/policy.ts';
import { instantMs } from '../core/messages/control.ts';
import type { CardAnswer, CardRequest } from './card.ts';
import { quoted } from './card-rows.ts';

/** `chosen`: any grant, which the reviewer chooses next. */
export type OfferedAlways = Always | 'chosen';

const alwaysEffects: Record<Exclude<OfferedAlways, false> | 'unknown', (tool: string) => string> = {
  call: () => 'It runs, and so do later calls of this run with exactly these arguments.',
  arguments: (tool) => `It runs, and so do later calls of ${tool} in this run whose arguments fit what you name.`,
  tool: (tool) => `It runs, and so do all later calls of ${tool} in this run, until the grant is revoked.`,
  chosen: (tool) =>
    `It runs, and so do those later calls of ${tool} in this run that you choose next: one, some or all.`,
  unknown: (tool) =>
    `It runs, and so do later calls of ${tool} in this run, as many as the rule admits. The receipt says which.`,
};

/**
 * The widest grant that rules admit by default, as far as the request shows: it does not show whether the call is a
 * shell command.
 */
function likely(risk: Risk): 'call' | 'unknown' {
  return defaultAlways({ risk }) === 'call' ? 'call' : 'unknown';
}

/**
 * Describes the effect of each answer. `always` is the widest grant that the answer "always" can make, or undefined if
 * unknown. The list contains that answer only if `offersAlways` is true.
 */
export function cardAnswers(
  request: CardRequest,
  always: OfferedAlways | undefined,
  offersAlways: boolean,
): CardAnswer[] {
  const { toolName, riskLevel, shown } = request;
  const tool = quoted(toolName);
  const answers: CardAnswer[] = [
    { name: 'approve', effect: `${tool} runs once, with exactly these arguments.` },
    { name: 'deny', effect: 'It does not run. The model is told "Denied:" and your reason.' },
  ];
  if (always !== false && offersAlways)
    answers.push({ name: 'always', effect: alwaysEffects[always ?? likely(riskLevel)](tool) });
  if (shown === 'all') {
    answers.push({
      name: 'edit',
      effect: 'It runs with your arguments, if the policy allows these. The model is told.',
    });
  }
  answers.push({ name: 'respond', effect: 'It does not run. The model gets your text as its result.' });
  return [...answers, { name: 'nobody', effect: ifNobodyAnswers(request) }];
}

function ifNobodyAnswers({ requestedAt, deadline, onTimeout = 'deny' }: CardRequest): string {
  if (deadline === null) return 'The call waits for ever.';
  const [fromMs, toMs] = [instantMs(requestedAt), instantMs(deadline)];
  const time =
    fromMs === undefined || toMs === undefined || toMs < fromMs ? '' : ` within ${formatDuration(toMs - fromMs)}`;
  if (onTimeout === 'allow') return 'It runs at the deadline, as the policy says.';
  return `It does not run. The model is told "Denied: no decision${time}".`;
}
