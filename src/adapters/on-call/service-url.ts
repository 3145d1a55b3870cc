import { policyInvalid } from '../../channels/policy-invalid.ts';

/** The address of a service. Throws `policy_invalid`; the message does not repeat it, because it may hold a secret. */
export function serviceUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url;
  const message = `'url' must be an address such as https://events.example.com/v1/alerts, without a user and a password.`;
  throw policyInvalid(message);
}
