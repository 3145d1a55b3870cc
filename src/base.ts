/** The values, texts and problems that all of Countersign reads and writes. It loads no library. */
// Re-exports only, for Countersign's own packages: docs/decisions/0063-each-kind-of-process-has-a-package.md.
export { attributeTypes } from './core/base/attribute-names.ts';
export { formatDuration } from './core/base/duration.ts';
export { escapeJson, escapeText, escapeUnseen } from './core/base/text.ts';
export { isObject } from './core/base/json.ts';
export { nfc } from './core/base/text.ts';
export { parseDuration } from './core/base/duration.ts';
export { ProblemError, isProblemError, problemCodes } from './core/base/problem.ts';
export type { Problem, ProblemCode } from './core/base/problem.ts';
export { shortened } from './core/base/text.ts';
export { quoteWord } from './text/visible-text.ts';
export { personsShown, shownPerson } from './core/people/directory.ts';
export { shownName } from './text/visible-text.ts';
export { deadlineText, instantText, terminalClock, timeLeft } from './text/instant-text.ts';
export type { ReaderClock } from './text/instant-text.ts';
export { viewedBounds } from './core/messages/viewed.ts';
export { risks, severities } from './core/base/tool-call.ts';
export type { Json, JsonObject, Risk, Severity } from './core/base/tool-call.ts';
export { unfinishedText } from './core/base/model-answer.ts';
export { nearestName, unknownName } from './text/check-call-options.ts';
export { saidText, toldText } from './core/base/user-files.ts';
export type { ShownFile, UserFile } from './core/base/user-files.ts';
export { looksLike } from './text/look-alikes.ts';
export { visibleEscape, visibleJsonText, visibleLine, visibleText } from './text/visible-text.ts';
