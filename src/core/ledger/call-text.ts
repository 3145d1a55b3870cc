/** A waiting call in one line, with the arguments that can be read without a worker. */
import { escapeText, escapeUnseen } from '../base/escape-text.ts';
import type { ApprovalRequest } from './approval.ts';

/** The arguments of a request or of a row of a list. */
export type ListedArguments = Pick<ApprovalRequest, 'shownArguments'> & { argumentNames: readonly string[] };

/** For example `amount: 120.00, recipient: ann, note`: a name alone is an argument that is not shown. */
export function argumentsText({ argumentNames, shownArguments = {} }: ListedArguments): string {
  const shown = Object.entries(shownArguments).map(([name, text]) => `${escapeText(name)}: ${escapeUnseen(text)}`);
  const others = argumentNames.filter((name) => !Object.hasOwn(shownArguments, name)).map(escapeText);
  return [...shown, ...others].join(', ');
}

/** For example `refund(amount: 120.00, recipient: ann, note)`. */
export function callText(request: Pick<ApprovalRequest, 'toolName' | 'shownArguments' | 'arguments'>): string {
  const { toolName, shownArguments, arguments: args } = request;
  return `${escapeText(toolName)}(${argumentsText({ shownArguments, argumentNames: Object.keys(args) })})`;
}
