/** Channels reach reviewers or answer in their place. For workers, and for programs that answer. */
export { approvalQueue, type ApprovalQueue, type QueueOptions } from './channels/approval-queue.ts';
export { autoApprove, autoDeny, callback, conditional, toChannel } from './channels/simple-channels.ts';
export type { ConditionalOptions } from './channels/simple-channels.ts';
export type { CallersOption } from './channels/caller-notice.ts';
export type {
  CallerNotices,
  Channel,
  ChannelAnswer,
  ChannelFunction,
  ChannelRequest,
  ChannelStep,
  NotifyContext,
  PostedAnswer,
  ResolveContext,
  SettledContext,
  TestContext,
} from './channels/channel.ts';
export type { ChannelContext, ChannelKind } from './channels/channel-kind.ts';
export type { ChannelSetUp, WorkerRoutes, ChannelOptions } from './channels/channel-set.ts';
export type { QuietHours, Weekday } from './channels/quiet-hours.ts';
export type { RequestRoute } from './core/people/channel-routes.ts';
export type { ListedRecord, RecordName, Records } from './client/server/records.ts';
export type * from './channels/chat-app.ts';
export { checkAnswer, InvalidAnswer, type AnswerReason, type ReasonOptions } from './channels/channel-answer.ts';
export { consoleChannel, type ConsoleOptions } from './channels/console-channel.ts';
export type { TerminalInput, TerminalOutput } from './channels/line-terminal.ts';
export { readChannels, type ReadChannelsOptions } from './adapters/read-channels.ts';
export { webhookChannel } from './adapters/webhook/webhook-channel.ts';
export type { WebhookOptions, WebhookBody, WebhookDelivery } from './adapters/webhook/webhook-settings.ts';
export type { LegacySignature, SignatureHeaders } from './adapters/webhook/signature.ts';
export { signWebhook, verifyWebhook } from './adapters/webhook/verify-webhook.ts';
export type { ReceivedWebhook, VerifiedWebhook } from './adapters/webhook/verify-webhook.ts';
export { slackAppOf, slackChannel } from './adapters/slack/slack-channel.ts';
export type {
  HttpListening,
  SlackChannelSettings,
  SlackSettings,
  SocketListening,
} from './adapters/slack/slack-settings.ts';
export { pushAppOf, webPushChannel } from './adapters/web-push/web-push-channel.ts';
export type { WebPushOptions } from './adapters/web-push/web-push-settings.ts';
export { emailChannel, type EmailOptions } from './adapters/email/email-channel.ts';
export type { MailTransport } from './adapters/email/mail-server.ts';
export type { MailedPerson } from './adapters/email/recipients.ts';
export type { HttpSettings } from './channels/outgoing/exchange.ts';
export { httpTemplateChannel } from './adapters/on-call/http-template-channel.ts';
export type { HttpTemplate, HttpTemplateOptions, SettledTemplate } from './adapters/on-call/http-template-channel.ts';
