import { type Command, InvalidArgumentError } from 'commander';
import type { GatewayOptions } from '@countersign/gateway';
import { type ClientFlags, requireFreePort, withClient, withClientFlags, wholeNumber } from '../base/command-line.ts';
import { type SignerOptions, signerOf, withSigner } from '../base/reviewer.ts';
import { untilInterrupted } from '../base/output.ts';

interface GatewayFlags extends ClientFlags, SignerOptions {
  host: string;
  port: number;
  identity?: string;
  undo: number;
  channels?: string;
  temporalUi?: string;
  cors?: string[];
  trustedProxy?: string[];
}

const defaultPort = 7280;
const defaultUndo = 5;

export function addGateway(command: Command): void {
  withClientFlags(command)
    .option('--host <address>', 'where to listen; other than loopback only with --identity', '127.0.0.1')
    .option('--port <n>', 'its port; 0 takes a free one', wholeNumber(0, 65_535), defaultPort)
    .option('--identity <file>', 'who may use it (default: everybody on this machine, as you)')
    .option('--channels <file>', 'the channel file of the workers: for answers by Slack and webhooks, and web push')
    .option('--undo <seconds>', 'how long the inbox delays an approval, for Undo', wholeNumber(0, 60), defaultUndo)
    .option('--temporal-ui <url>', "the address of Temporal's UI, for links", webAddress)
    .option('--trusted-proxy <addresses...>', 'proxies in front of it, by address or network, which name the sender')
    .option('--cors <origins...>', 'origins whose pages may use the API with a bearer token');
  withSigner(command, 'sign the decisions of signed-in reviewers with this private key').action(serveGateway);
}

/** Runs the gateway until the process is interrupted, and prints its address. */
async function serveGateway(flags: GatewayFlags): Promise<void> {
  const { host, port, identity: file, undo, temporalUi, cors = [], trustedProxy: trustedProxies } = flags;
  // Signals are awaited before loading and connecting, so that an early Ctrl-C is not lost.
  const interrupted = untilInterrupted();
  await requireFreePort(port, '--port', host);
  const { readIdentityFile, startGateway } = await import('@countersign/gateway');
  const identity = file === undefined ? undefined : readIdentityFile(file);
  const listening = flags.channels === undefined ? {} : await listeningOf(flags.channels);
  await withClient(flags, async (client, output) => {
    const gateway = await startGateway({
      client,
      host,
      port,
      cors,
      ...listening,
      ...(trustedProxies !== undefined && { trustedProxies }),
      undoMs: undo * 1_000,
      signer: signerOf(flags).sign,
      log: (line) => output.note(line),
      ...(identity !== undefined && { identity }),
      ...(temporalUi !== undefined && { temporalUi }),
    });
    if (output.forPeople) {
      output.line(`Gateway  ${output.style('bold', gateway.url)}`);
      output.line(output.style('dim', 'Ctrl-C stops it.'));
    } else output.json({ url: gateway.url });
    await interrupted;
    await gateway.stop();
  });
}

async function listeningOf(file: string): Promise<Pick<GatewayOptions, 'channels' | 'slack' | 'push'>> {
  const { pushAppOf, readChannels, slackAppOf } = await import('countersign/channels');
  const { channels } = await readChannels(file);
  return { channels, slack: slackAppOf(channels), push: pushAppOf(channels) };
}

function webAddress(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return text;
  throw new InvalidArgumentError('It must be an address such as http://127.0.0.1:8233.');
}
