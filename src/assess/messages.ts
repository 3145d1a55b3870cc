/** Messages to people: the number and kind of their recipients (docs/assessment.md). */
import { type CallView, type Finding, holdsWord, readingWords } from './finding.ts';
import type { Severity } from '../core/base/tool-call.ts';

/** The severity by the number of recipients. A row matches from `from` recipients on; the last match counts. */
export const recipientRows: readonly { from: number; severity: Severity; reason: string }[] = [
  { from: 0, severity: 'medium', reason: 'it sends a message to people' },
  { from: 10, severity: 'high', reason: 'it sends a message to 10 people or more' },
  { from: 100, severity: 'critical', reason: 'it sends a message to 100 people or more' },
];

const publicWords = new Set('tweet toot broadcast announce'.split(' '));

/** Features of a message that raise its severity. `recipients` are in lower case. */
export const messageRows: readonly {
  what: string;
  test: (message: {
    recipients: readonly string[];
    sender: string | undefined;
    tool: ReadonlySet<string>;
    attaches: boolean;
  }) => boolean;
  severity: Severity;
  reason: string;
}[] = [
  {
    what: 'everybody: `@everyone`, `@channel`, `#general`, `all@…`, `team@…`',
    test: ({ recipients }) =>
      recipients.some((recipient) =>
        /^([@#!]?(everyone|everybody|channel|here|all|general|announcements)|(all|everyone|everybody|staff|team|company|list|employees)@.*)$/.test(
          recipient,
        ),
      ),
    severity: 'high',
    reason: 'one of its recipients stands for many people',
  },
  {
    what: 'the public: tools named `tweet`, `toot`, `broadcast`, `announce`',
    test: ({ tool }) => holdsWord(tool, publicWords),
    severity: 'high',
    reason: 'it speaks to the public',
  },
  {
    what: `another domain than the sender's`,
    test: ({ recipients, sender }) =>
      sender !== undefined && recipients.some((recipient) => (domainOf(recipient) ?? sender) !== sender),
    severity: 'high',
    reason: `a recipient is outside of the sender's domain`,
  },
  {
    what: 'three domains or more',
    test: ({ recipients }) => new Set(recipients.map(domainOf).filter((domain) => domain !== undefined)).size >= 3,
    severity: 'high',
    reason: 'its recipients are in three domains or more',
  },
  {
    what: 'attachments',
    test: ({ attaches }) => attaches,
    severity: 'high',
    reason: 'it sends attachments',
  },
];

/** A tool sends a message if its name begins with one of these words (`email_customer`), or has a verb for it. */
const messageWords = new Set('email emails mail sms mms message messages dm whatsapp telegram slack'.split(' '));
const sendingWords = new Set('send post reply forward tweet toot publish broadcast announce notify invite'.split(' '));
const recipientWords = new Set(
  'to cc bcc recipient recipients email emails phone phones channel channels user users attendees'.split(' '),
);
const senderWords = new Set('from sender'.split(' '));
const attachmentWords = new Set('attachment attachments attach'.split(' '));
/** A tool with one of these words in its name only prepares a message. */
const unsentWords = new Set('draft preview template'.split(' '));

/** Assesses a call that sends a message to people, by its recipients. A call of any other tool gives no findings. */
export function assessMessages({ tool, fields, readsOnly }: CallView): Finding[] {
  const [first = ''] = tool;
  if (!holdsWord(tool, sendingWords) && !messageWords.has(first)) return [];
  if (holdsWord(tool, unsentWords) || (readsOnly && holdsWord(tool, readingWords))) return [];
  const texts = fields.flatMap(({ words, value }) =>
    typeof value === 'boolean' ? [] : [{ words, text: String(value) }],
  );
  const recipients = texts.filter(({ words }) => holdsWord(words, recipientWords)).flatMap(({ text }) => namesIn(text));
  // Verbs such as `post` and `publish` may address machines, so they need recipients or a word for messages.
  if (recipients.length === 0 && !holdsWord(tool, messageWords) && !holdsWord(tool, publicWords)) return [];
  const sender = texts.find(({ words }) => holdsWord(words, senderWords))?.text.toLowerCase();
  const attaches = fields.some(
    ({ words, value }) => holdsWord(words, attachmentWords) && value !== '' && value !== false,
  );
  const message = { recipients, sender: sender === undefined ? undefined : domainOf(sender), tool, attaches };
  const affected = recipients.map((recipient) => `${recipient.startsWith('#') ? 'channel' : 'person'}:${recipient}`);
  const rowOfNumber = recipientRows.findLast(({ from }) => recipients.length >= from);
  return [rowOfNumber, ...messageRows.filter(({ test }) => test(message))].flatMap((row): Finding[] =>
    row === undefined ? [] : [{ severity: row.severity, reason: row.reason, affected, reversible: false }],
  );
}

/** The recipients that a text names: `Ann <ann@a.example>, bob@b.example` are two. */
function namesIn(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[,;\n]/)
    .map((name) => (/<([^<>]*)>/.exec(name)?.[1] ?? name).trim())
    .filter((name) => name !== '');
}

function domainOf(recipient: string): string | undefined {
  const at = recipient.lastIndexOf('@');
  return at > 0 ? recipient.slice(at + 1).split('>', 1)[0] : undefined;
}
