/** What reviewers see of a request, and the answers that they can give. */
// Re-exports only, for Countersign's own packages: docs/decisions/0063-each-kind-of-process-has-a-package.md.
export { escapeHtml, htmlPage, pagePolicy } from './text/html-page.ts';
export { argumentBlocks, type ArgumentBlock } from './card/argument-blocks.ts';
export { cardDigest, cardOf, type CardOptions } from './card/card-of.ts';
export { rowSentence } from './card/call-sentence.ts';
export {
  type CardRequest,
  type AnswerName,
  type Card,
  type CardAnswer,
  type CardChange,
  type CardField,
  type CardRow,
  type CardText,
  type DiffLine,
  type SentencePart,
  type FieldFormat,
  decidingTexts,
} from './card/card.ts';
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
} from './card/card-words.ts';
export { editText } from './card/card-rows.ts';
export { hiddenNote, wholeText } from './card/cut-text.ts';
export { cardStyle, renderHtml, renderHtmlPage } from './card/render-html.ts';
export { noAlways, scopeSteps } from './card/narrowest-scope.ts';
export { memberSchema, schemaText } from './card/member-schema.ts';
export { renderMarkdown } from './card/render-markdown.ts';
export { renderSlack } from './card/render-slack.ts';
export { renderTerminal } from './card/render-terminal.ts';
export { chosenScope } from './core/ledger/make-grant.ts';
export type { Ran } from './core/ledger/approval.ts';
export { argumentsText } from './core/ledger/shown-arguments.ts';
export { hideInRequest, redactInRequest, shownPreview } from './core/ledger/hidden-arguments.ts';
export { undeliveredMessage, waitingMessage, type WaitingNotice } from './core/ledger/waiting-for.ts';
export { consoleLineHelp, readConsoleLine } from './text/console-line.ts';
export type { RequestedScope } from './core/messages/decision.ts';
