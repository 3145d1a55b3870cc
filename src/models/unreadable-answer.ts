import { APICallError, InvalidResponseDataError, JSONParseError, TypeValidationError } from '@ai-sdk/provider';
import { describeIssues, type Issue } from '../agents/describe-issues.ts';
import { readJson } from '../text/read-json.ts';
import { quote } from './quote.ts';

/**
 * What is wrong with a model's answer and where, then how the answer begins; for example
 * `answer.choices: expected array, received string; it begins {"choices":"x"}`. Undefined for other errors.
 */
export function unreadableAnswer(error: unknown): string | undefined {
  if (APICallError.isInstance(error)) return unreadableAnswer(error.cause);
  if (JSONParseError.isInstance(error)) {
    const read = readJson(error.text, { root: 'answer' });
    return described('problem' in read ? read.problem : 'answer: expected other JSON', error.text);
  }
  if (TypeValidationError.isInstance(error)) {
    const { issues } = (error.cause ?? {}) as { issues?: readonly Issue[] };
    return described(
      issues === undefined ? 'answer: expected another form' : describeIssues('answer', issues),
      error.value,
    );
  }
  if (InvalidResponseDataError.isInstance(error)) return described(error.message, error.data);
  return undefined;
}

function described(problem: string, answer: unknown): string {
  const text = typeof answer === 'string' ? answer : answer === undefined ? '' : JSON.stringify(answer);
  return `${quote(problem).replace(/\.$/, '')}${text.trim() === '' ? '' : `; it begins ${quote(text)}`}`;
}
