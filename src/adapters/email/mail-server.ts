import { shortened } from '../../core/base/text.ts';
import { visibleText } from '../../text/visible-text.ts';
import { checkOptions } from '../../agents/check-options.ts';
import { isLoopbackHost } from '../../text/loopback.ts';
import { NotTaken } from '../../channels/outgoing/not-taken.ts';
import { policyInvalid } from '../../channels/channel-kind.ts';

/** The SMTP server that sends the mails. */
export interface MailTransport {
  host: string;
  /** Default: 465 with `tls: implicit`, otherwise 587. */
  port?: number;
  /**
   * `starttls`: the connection is encrypted after the greeting, or no mail is sent. `implicit`: it is encrypted from
   * the start. `none`: it is never encrypted, so others on the network can read the links. Default: `starttls`.
   */
  tls?: 'starttls' | 'implicit' | 'none';
  /** Default: the server needs no sign-in. */
  user?: string;
  password?: string;
  /** The certificates (PEM) of the authorities that may sign the server's certificate. Default: those of Node. */
  ca?: string;
  /** How long the server may be silent, in milliseconds. Default: 20,000. */
  timeoutMs?: number;
}

export interface Mail {
  to: string;
  from: { name: string; address: string };
  subject: string;
  text: string;
  html: string;
  messageId: string;
  inReplyTo?: string;
}

export class RecipientRefused extends Error {
  override readonly name = 'RecipientRefused';
  /** True for a permanent failure (5xx). Otherwise a later attempt may succeed. */
  readonly isPermanent: boolean;

  constructor(message: string, isPermanent: boolean) {
    super(message);
    this.isPermanent = isPermanent;
  }
}

export interface MailServer {
  /** Throws `RecipientRefused`, `NotTaken` for a refused mail, and other errors for failures that concern all mails. */
  send(mail: Mail): Promise<void>;
  /** Connects, signs in and sends nothing. */
  verify(): Promise<void>;
}

/** The members of nodemailer's errors that describe the failure. */
interface SmtpError {
  code?: string;
  command?: string;
  response?: string;
  responseCode?: number;
}

/** Returns a server that connects when it is used. Throws `policy_invalid` if the password would be sent in clear. */
export function openMailServer(transport: MailTransport): MailServer {
  const known = { host: true, port: true, tls: true, user: true, password: true, ca: true, timeoutMs: true } as const;
  checkOptions('emailChannel: transport', transport, known);
  const { host, tls = 'starttls', port = tls === 'implicit' ? 465 : 587, user, password, ca } = transport;
  const { timeoutMs = 20_000 } = transport;
  if (tls === 'none' && password !== undefined && !isLoopbackHost(host)) {
    const message = `The password for ${host} would be sent in clear: use 'tls: starttls' or 'tls: implicit'.`;
    throw policyInvalid(message);
  }
  const options = {
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(user !== undefined && { auth: { user, pass: password ?? '' } }),
    ...(ca !== undefined && { tls: { ca } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    // The content of a mail is untrusted, so nodemailer must not read files or URLs that it names.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  let takesUtf8 = false;

  /** Awaits a call of nodemailer, and converts its errors by `asMailError`. */
  const orMailError = <Result>(call: Promise<Result>): Promise<Result> =>
    call.catch((error: unknown) => {
      throw asMailError(error, `${host}:${port}`);
    });

  /** Throws if an address needs SMTPUTF8 and the server lacks it, because nodemailer would send the mail anyway. */
  async function requireUtf8({ to, from }: Mail): Promise<void> {
    if (isAscii(to) && isAscii(from.address)) return;
    // Remember only that the server supports SMTPUTF8: a server that lacks it may be replaced by one that has it.
    takesUtf8 ||= await orMailError(announcesUtf8(options));
    if (takesUtf8) return;
    const why = `does not announce SMTPUTF8, which an address needs that has other letters than ASCII before its @`;
    if (!isAscii(from.address)) throw new Error(`The mail server ${host}:${port} ${why}: the sender's has.`);
    throw new RecipientRefused(`The mail server ${host}:${port} ${why}.`, true);
  }

  async function connect() {
    const { createTransport } = await import('nodemailer');
    return createTransport(options);
  }

  return {
    verify: async () => {
      await orMailError((await connect()).verify());
    },
    send: async (mail) => {
      const { to, from, subject, text, html, messageId, inReplyTo } = mail;
      await requireUtf8(mail);
      const server = await connect();
      const sending = server.sendMail({
        // Use an object, because in a text a comma would begin another address.
        to: { name: '', address: to },
        from,
        envelope: { from: from.address, to: [to] },
        subject,
        text,
        html,
        messageId,
        ...(inReplyTo !== undefined && { inReplyTo, references: [inReplyTo] }),
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
        xMailer: false,
      });
      await orMailError(sending);
    },
  };
}

export function isAscii(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

/** True if the server announces SMTPUTF8 (RFC 6531). */
async function announcesUtf8(options: object): Promise<boolean> {
  const { createTransport } = await import('nodemailer');
  let extensions: readonly string[] = [];
  // nodemailer shows the announcements only to a custom method of sign-in. This method just keeps them.
  const read = (context: { extensions: string[] }): Promise<void> => {
    ({ extensions } = context);
    return Promise.resolve();
  };
  const server = createTransport({
    ...options,
    auth: { type: 'custom', method: 'READ', user: '', pass: '' },
    customAuth: { READ: read },
    forceAuth: true,
  } as object);
  await server.verify();
  return extensions.includes('SMTPUTF8');
}

/** Returns an error that says what the server refused. Nodemailer's is not its `cause`: it may contain the password. */
function asMailError(error: unknown, server: string): Error {
  const { code = 'an error', command, response, responseCode = 0 } = error as SmtpError;
  const answer = response === undefined ? '' : `: ${shortened(visibleText(response), 200)}`;
  if (command === 'RCPT TO') {
    return new RecipientRefused(`The mail server ${server} refused a recipient${answer}`, responseCode >= 500);
  }
  const remedy = code === 'EAUTH' ? `; check 'user' and 'password'` : '';
  const message = `The mail server ${server} took no mail (${code}${command === undefined ? '' : `, ${command}`})${answer}${remedy}`;
  // Status 552 means that the mail is too large. A server can send it before `DATA`, too.
  const refusesMessage = responseCode >= 500 && (command === 'DATA' || responseCode === 552);
  return refusesMessage ? new NotTaken({ code: 'invalid_message', message }, { refusesMessage }) : new Error(message);
}
