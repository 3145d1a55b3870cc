import { createECDH } from 'node:crypto';
import { checkOptions } from '../../agents/check-options.ts';
import type { CallersOption } from '../../channels/caller-notice.ts';
import { gatewayOrigin } from '../../channels/answer-link.ts';
import type { AddressFilter, FilteredAgents } from '../../channels/outgoing/address-filter.ts';
import { addressFilter, filteredAgents } from '../../channels/outgoing/address-filter.ts';
import { policyInvalid } from '../../channels/channel-kind.ts';
import type { HttpSettings } from '../../channels/outgoing/exchange.ts';

/** Options of `webPushChannel`. */
export interface WebPushOptions extends HttpSettings {
  /** The operator's contact for push services: `mailto:` and an address, or an https URL. */
  subject: string;
  /** The keys that `web-push generate-vapid-keys` generates. If they change, all subscriptions are lost. */
  publicKey: string;
  privateKey: string;
  /** The gateway's `public_url`. */
  gatewayUrl: string;
  /** The certificates (PEM) of trusted authorities, in place of Node's. */
  ca?: string;
  /**
   * `also`: the channel notifies the subscribed browsers of a run's caller, too, that the run waits for a decision, and
   * of the outcome. `only`: it notifies callers, and no reviewers. Default: it notifies no callers.
   */
  callers?: CallersOption;
}

export interface WebPushSettings extends Pick<WebPushOptions, 'subject' | 'publicKey' | 'privateKey'> {
  origin: string;
  filter: AddressFilter;
  agents: FilteredAgents;
  requestTimeoutMs: number;
}

const curve = 'prime256v1';

/** Validates the options. Throws `policy_invalid`, and a `DefinitionError` for an unknown option. */
export function webPushSettings(options: WebPushOptions): WebPushSettings {
  const keys = { subject: true, publicKey: true, privateKey: true } as const;
  const sending = { gatewayUrl: true, allowAddresses: true, ca: true, callers: true } as const;
  checkOptions('webPushChannel', options, { ...keys, ...sending, requestTimeoutMs: true, lookup: true });
  const { subject, publicKey, privateKey, gatewayUrl, allowAddresses = [], ca, requestTimeoutMs = 10_000 } = options;
  const isSubject = /^mailto:[^\s@]+@[^\s@]+$/.test(subject) || (URL.canParse(subject) && subject.startsWith('https:'));
  if (!isSubject) throw policyInvalid(`'subject' must be mailto: and an address, or an https URL.`);
  if (publicKeyOf(privateKey) !== publicKey) {
    throw policyInvalid(
      `'public_key' and 'private_key' are no pair: use two of the same 'web-push generate-vapid-keys'.`,
    );
  }
  const filter = addressFilter(allowAddresses);
  return {
    subject,
    publicKey,
    privateKey,
    origin: gatewayOrigin(gatewayUrl),
    filter,
    agents: filteredAgents({ filter, lookup: options.lookup, tls: ca === undefined ? {} : { ca } }),
    requestTimeoutMs,
  };
}

/** Returns the public key of a private key, both in base64url; undefined if the private key is invalid. */
function publicKeyOf(privateKey: string): string | undefined {
  const bytes = Buffer.from(privateKey, 'base64url');
  if (bytes.length !== 32 || bytes.toString('base64url') !== privateKey) return undefined;
  try {
    const pair = createECDH(curve);
    pair.setPrivateKey(bytes);
    return pair.getPublicKey('base64url');
  } catch {
    return undefined;
  }
}
