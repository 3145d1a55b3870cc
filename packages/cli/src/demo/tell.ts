import { styleText } from 'node:util';
import { formatDuration, escapeJson, escapeText, type Json } from 'countersign/base';
import type { DemoEvent, Tell } from './ask-person.ts';

type Format = Parameters<typeof styleText>[0];
type Paint = (format: Format, text: string) => string;

const labelWidth = 9;
const longestArguments = 64;

export const tellJson: Tell = (event) => {
  process.stdout.write(`${escapeJson(event as unknown as Json)}\n`);
};

export const tellPeople: Tell = (event) => {
  const paint: Paint = (format, text) => styleText(format, text, { stream: process.stdout });
  for (const line of linesOf(event, paint)) process.stdout.write(`${line}\n`);
};

/** Returns the lines of one event. Text from a model or a run is escaped here and nowhere else. */
function linesOf(event: DemoEvent, paint: Paint): string[] {
  const row = (label: string, text: string, format: Format = 'dim'): string =>
    `  ${paint(format, label.padEnd(labelWidth))}${text}`;
  switch (event.event) {
    case 'server':
      return [row('server', `Temporal on ${event.address}, its UI on ${event.uiUrl}`)];
    case 'folder': {
      const hint = event.scripted ? paint('dim', ' (set OPENAI_API_KEY for a real one)') : '';
      return [row('folder', event.path), row('model', `${escapeText(event.model)}${hint}`)];
    }
    case 'worker':
      return event.again ? [row('worker', `process ${event.pid} takes over`)] : [row('worker', `process ${event.pid}`)];
    case 'run':
      return [row('run', event.url), ''];
    case 'said':
      return [row('agent', paint('italic', shorten(escapeText(event.text), 160)))];
    case 'ruling': {
      const [label, format] = marks[event.action];
      const why = [...(event.rule === null ? [] : [`rule ${escapeText(event.rule)}`]), escapeText(event.reason)];
      const call = `${escapeText(event.tool)}(${argumentsOf(event.args)})`;
      return [row(label, call, format), row('', paint('dim', why.join(': ')))];
    }
    case 'killed':
      return ['', row('kill -9', `worker ${event.pid} is dead`, 'red')];
    case 'listed': {
      const left = event.deadline === null ? 'no deadline' : `${timeLeft(event.deadline)} left`;
      return [row('inbox', `still open: ${event.tool}, request ${event.requestId.slice(0, 8)}…, ${left}`)];
    }
    case 'asking':
      return [
        '',
        row('approve?', `${paint('bold', event.tool)} ${escapeJson(event.args)}`, 'yellow'),
        ...(event.url === undefined ? [] : [row('inbox', event.url)]),
        ...event.commands.map((command) => row('or', paint('dim', command))),
      ];
    case 'nobody':
      return [row('', 'The input ended without an answer, so the demo denies: use --yes to approve.', 'red')];
    case 'decided': {
      const verdict = event.approved ? paint('green', 'approved') : paint('red', 'denied');
      return [row('decision', `${verdict} by ${escapeText(event.by)}`), ''];
    }
    case 'elsewhere':
      return [row('decision', escapeText(event.message)), ''];
    case 'counted': {
      const times =
        event.times === 1 ? paint('bold', 'ran once') : event.times === 0 ? 'did not run' : `ran ${event.times} times`;
      return [row('counted', `${event.tool} ${times}, says the log that the tool itself writes`)];
    }
    case 'result':
      return [
        ...(event.status === 'completed' ? [] : [row('ended', `as ${event.status}`, 'red')]),
        ...event.output.split('\n').map((line, index) => row(index === 0 ? 'result' : '', escapeText(line), 'green')),
      ];
    case 'links':
      return [
        '',
        row('look', event.url),
        ...event.commands.map((command) => row('', command)),
        event.keep
          ? row('', 'Server and worker run on. Ctrl-C ends them.', 'yellow')
          : row('', paint('dim', 'These end with the demo: npm run demo -- --keep leaves them open.')),
      ];
    case 'note':
      return [row('', paint('dim', escapeText(event.text)))];
    case 'gone':
      return [row('', paint('dim', 'Server, worker and folder: nothing is left behind.'))];
  }
}

const marks: Record<Extract<DemoEvent, { event: 'ruling' }>['action'], [label: string, format: Format]> = {
  allow: ['✓ allow', 'green'],
  ask: ['? ask', 'yellow'],
  deny: ['✗ deny', 'red'],
  refused: ['✗ refuse', 'red'],
};

/** Returns arguments as `name: value` and commas, escaped and cut. A model may give arguments that are no object. */
function argumentsOf(args: Json): string {
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    return shorten(escapeJson(args), longestArguments);
  const shown = Object.entries(args).map(([name, value]) => {
    const text = typeof value === 'string' ? escapeText(value) : escapeJson(value);
    return `${escapeText(name)}: ${text}`;
  });
  return shorten(shown.join(', '), longestArguments);
}

function timeLeft(deadline: string): string {
  return formatDuration(Math.ceil((Date.parse(deadline) - Date.now()) / 1_000) * 1_000);
}

function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
