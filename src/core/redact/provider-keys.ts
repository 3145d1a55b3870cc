/** Keys and tokens whose beginning says whose they are. */
const forms = [
  // GitHub, GitLab, Atlassian, Docker, npm, PyPI, RubyGems
  'gh[oprsu]_[A-Za-z0-9]{36,}',
  String.raw`github_pat_\w{22,}`,
  String.raw`gl(?:pat|ptt|dt|rt)-[\w-]{20,}`,
  String.raw`ATATT3[\w=-]{50,}`,
  String.raw`dckr_pat_[\w-]{20,}`,
  'npm_[A-Za-z0-9]{36}',
  String.raw`pypi-AgE[\w-]{50,}`,
  'rubygems_[0-9a-f]{48}',
  // Slack, Discord, Telegram, Twilio, SendGrid, Mailgun, Mailchimp
  String.raw`xox[abeoprs]-[\w-]{10,}`,
  String.raw`xapp-\d-[\w-]{20,}`,
  String.raw`\d{8,10}:AA[\w-]{32,35}`,
  'SK[0-9a-f]{32}',
  String.raw`SG\.[\w-]{16,32}\.[\w-]{16,64}`,
  'key-[0-9a-f]{32}',
  String.raw`[0-9a-f]{32}-us\d{1,2}`,
  // Google, Azure, DigitalOcean, Heroku, Fly, Netlify, Supabase, PlanetScale, Cloudflare
  String.raw`AIza[\w-]{35}`,
  String.raw`ya29\.[\w-]{20,}`,
  String.raw`GOCSPX-[\w-]{20,}`,
  'do[opr]_v1_[0-9a-f]{64}',
  String.raw`HRKU-[\w-]{30,}`,
  'FlyV1 fm[12]_[A-Za-z0-9+/=,]{20,}',
  'nfp_[A-Za-z0-9]{30,}',
  'sb[ps]_[0-9a-f]{40}',
  String.raw`pscale_(?:tkn|pw|oauth)_[\w.-]{20,}`,
  // Stripe, Square, Shopify, Adyen
  '[rs]k_(?:live|test)_[A-Za-z0-9]{10,}',
  'whsec_[A-Za-z0-9+/]{24,}',
  String.raw`sq0(?:atp|csp)-[\w-]{22,}`,
  'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}',
  // Models: Hugging Face, Groq, Replicate, xAI, Perplexity
  'hf_[A-Za-z0-9]{30,}',
  'gsk_[A-Za-z0-9]{40,}',
  'r8_[A-Za-z0-9]{30,}',
  'xai-[A-Za-z0-9]{40,}',
  'pplx-[A-Za-z0-9]{40,}',
  // Databricks, Vault, Terraform, Doppler, Linear, Notion, Postman, New Relic, Grafana, Sentry, age
  'dapi[0-9a-f]{32}',
  String.raw`hv[sb]\.[\w-]{20,}`,
  String.raw`[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}`,
  String.raw`dp\.(?:pt|st|ct)\.[A-Za-z0-9.]{40,}`,
  'lin_api_[A-Za-z0-9]{32,}',
  '(?:ntn|secret)_[A-Za-z0-9]{40,}',
  'PMAK-[0-9a-f]{24}-[0-9a-f]{34}',
  'NRAK-[A-Z0-9]{27}',
  String.raw`glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}`,
  String.raw`sntrys_[\w=-]{40,}`,
  'AGE-SECRET-KEY-1[A-Z0-9]{58}',
];

export const providerKeys = new RegExp(String.raw`(?<![\w-])(?:${forms.join('|')})(?![A-Za-z0-9])`, 'g');
