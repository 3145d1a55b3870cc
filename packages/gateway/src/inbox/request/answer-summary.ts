import type { Json } from 'countersign/base';
import type { ApprovalDetails } from 'countersign/client';
import { changedValues } from '../form/changed-values.ts';
import type { Answer } from './use-decision.ts';

const longestValue = 80;

/** What an approval says that is held back, such as `Approving with your changes: amount 20 → 30`. */
export function answerSummary(request: Pick<ApprovalDetails, 'arguments' | 'toolName'>, answer: Answer): string {
  const { modifiedArguments, always } = answer;
  if (modifiedArguments !== undefined) {
    const changes = changedValues(request.arguments, modifiedArguments as Json).map(
      ({ place, before, after }) => `${place} ${written(before)} → ${written(after)}`,
    );
    return `Approving with your changes: ${changes.join(', ')}`;
  }
  if (typeof always !== 'object') return 'Approving this call';
  const scopes = {
    call: 'and the same call again',
    arguments: `and further calls of ${request.toolName} that match`,
    tool: `and every further call of ${request.toolName}`,
  } as const;
  return `Approving this call, ${scopes[always.kind]}`;
}

function written(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  const text = typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
  return text.length > longestValue ? `${text.slice(0, longestValue).toWellFormed()}…` : text;
}
