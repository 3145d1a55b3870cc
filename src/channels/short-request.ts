import { argumentBytes as bytesOf } from '../core/ledger/hidden-arguments.ts';
import { shownName } from '../text/visible-text.ts';
import type { ChannelRequest } from './channel.ts';

const mostNames = 5;

/** A request without what may be large: the names and the size of its arguments, and its digest, stay. */
export function shortRequest(request: ChannelRequest): ChannelRequest {
  const { argumentNames = Object.keys(request.arguments), argumentBytes = bytesOf(request.arguments) } = request;
  const without = { schema: undefined, preview: undefined, advice: undefined, userMessages: undefined };
  const texts = {
    sentence: undefined,
    shownArguments: undefined,
    notShown: undefined,
    contextSummary: '',
    metadata: {},
  };
  return { ...request, ...without, ...texts, arguments: {}, argumentNames, argumentBytes, shown: 'part' };
}

/** The short form of a request in one line of at most 600 characters: agent, tool, names and size of arguments, digest. */
export function shortSentence(request: ChannelRequest): string {
  const { agentName, toolName, digest, argumentNames = [], argumentBytes = 0 } = shortRequest(request);
  const names = argumentNames.slice(0, mostNames).map(shownName);
  const more = argumentNames.length - names.length;
  const listed = [...names, ...(more > 0 ? [`${more} more`] : [])].join(', ');
  return `${shownName(agentName)} asks to call ${shownName(toolName)}(${listed}): ${argumentBytes} bytes of arguments, digest ${digest.slice(0, 12)}.`;
}
