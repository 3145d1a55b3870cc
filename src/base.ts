/** The values, texts and problems that all of Countersign reads and writes. It loads no library. */
// Re-exports only, for Countersign's own packages: docs/decisions/0063-each-kind-of-process-has-a-package.md.
export { attributeTypes } from './core/base/attribute-names.ts';
export { formatDuration, parseDuration } from './core/base/duration.ts';
export { escapeJson, escapeText, escapeUnseen, nfc, shortened } from './core/base/text.ts';
export { readFault } from './text/read-fault.ts';
export { isLoopbackHost } from './text/loopback.ts';
export { isObject } from './core/base/json.ts';
export { ProblemError, isProblemError, problemCodes, type Problem, type ProblemCode } from './core/base/problem.ts';
export { quoteWord, shownName, visibleEscape, visibleJsonText, visibleLine, visibleText } from './text/visible-text.ts';
export { personsShown, shownPerson } from './core/people/directory.ts';
export { deadlineText, instantText, terminalClock, timeLeft, type ReaderClock } from './text/instant-text.ts';
export { viewedBounds } from './core/messages/viewed.ts';
export { risks, severities, type Json, type JsonObject, type Risk, type Severity } from './core/base/tool-call.ts';
export { unfinishedText } from './core/base/model-answer.ts';
export { nearestName, unknownName } from './text/check-call-options.ts';
export { saidText, toldText, type ShownFile, type UserFile } from './core/base/user-files.ts';
export { looksLike } from './text/look-alikes.ts';
