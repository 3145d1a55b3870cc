import { policyInvalid } from './policy-invalid.ts';

/** The origin of a gateway as its identity file has it in `public_url`. Throws `policy_invalid` for any other text. */
export function gatewayOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLocal = url?.protocol === 'http:' && /^(?:127\.[\d.]+|localhost|\[::1\])$/.test(url.hostname);
  if (url !== undefined && (url.protocol === 'https:' || isLocal) && url.origin === text.replace(/\/$/, '')) {
    return url.origin;
  }
  const message = `The gateway's address must be an https origin without a path, such as https://approvals.example.com; http only on this machine.`;
  throw policyInvalid(message);
}
