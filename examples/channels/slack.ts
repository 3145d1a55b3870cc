/**
 * People answer in a channel of Slack. A critical request is shown there, and approved in the inbox only.
 *
 *   SLACK_BOT_TOKEN=xoxb-… SLACK_SIGNING_SECRET=… countersign worker examples/channels/slack.ts
 *   countersign run shop --input 'My lamp came broken'
 *
 * The gateway hears what they answer: start it with the same file and variables, as docs/slack.md says.
 */
import { join } from 'node:path';
import { policy, shop } from './shop.ts';

export default { agents: [shop], policy, channels: join(import.meta.dirname, 'slack.yaml') };
