/** What people see of a request, and how they may answer it. */
// Re-exports only, for Countersign's own packages: docs/decisions/0063-three-packages.md.
export { escapeHtml, htmlPage, pagePolicy } from './core/base/html-page.ts';
export { cardDigest } from './core/card/card-digest.ts';
export { cardOf } from './core/card/card-of.ts';
export type { CardOptions } from './core/card/card-of.ts';
export type { CardRequest } from './core/card/card-request.ts';
export {
  answerLabels,
  argumentsNote,
  changeRest,
  changeTitle,
  diffMarks,
  fieldLabel,
  fieldNote,
  headings,
  previewNote,
  saysName,
} from './core/card/card-words.ts';
export type {
  AnswerName,
  Card,
  CardAnswer,
  CardChange,
  CardField,
  CardRow,
  CardText,
  DiffLine,
  FieldFormat,
} from './core/card/card.ts';
export { hiddenNote, wholeText } from './core/card/cut-text.ts';
export { decidingTexts } from './core/card/deciding-texts.ts';
export { cardStyle } from './core/card/html-style.ts';
export { lineCard, noAlways } from './core/card/line-card.ts';
export { memberSchema, schemaText } from './core/card/member-schema.ts';
export { renderHtml, renderHtmlPage } from './core/card/render-html.ts';
export { renderMarkdown } from './core/card/render-markdown.ts';
export { renderSlack } from './core/card/render-slack.ts';
export { renderTerminal } from './core/card/render-terminal.ts';
export { wrapText } from './core/card/wrap-text.ts';
export { chosenScope } from './core/ledger/always-terms.ts';
export type { Ran } from './core/ledger/approval.ts';
export { argumentsText } from './core/ledger/call-text.ts';
export { hideInRequest } from './core/ledger/hidden-arguments.ts';
export { narrowestScope, scopeCovers, scopeSteps } from './core/ledger/narrowest-scope.ts';
export type { AskedAlways } from './core/ledger/narrowest-scope.ts';
export { redactInRequest } from './core/ledger/redacted-arguments.ts';
export { shownPreview } from './core/ledger/shown-parts.ts';
export { waitingMessage } from './core/ledger/waiting-notice.ts';
export type { WaitingNotice } from './core/ledger/waiting-notice.ts';
export { armingMs, consoleLineHelp, readConsoleLine } from './core/messages/console-line.ts';
export type { RequestedScope } from './core/messages/decision.ts';
