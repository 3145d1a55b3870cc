/** What a verifier found wrong. The message says what happened and where, in one sentence. */
export interface AuditFinding {
  /** The line of the file, from 1. */
  line: number;
  kind: FindingKind;
  message: string;
  workflowId?: string;
  /** The first journal entry that it concerns. */
  seq?: number;
}

/**
 * `deleted`, `reordered`, `repeated`, `edited`, `cut off`: what was done to the file. `foreign`: a line of another run or
 * export. `signature`: signed by somebody else, or not at all. `head`: the entries are not those to which the run, or an
 * older export, is committed. `unreadable`: no line of an export. `ruling`: the recorded policy rules otherwise. `live`:
 * the server's history says something else.
 */
export type FindingKind =
  | 'deleted'
  | 'reordered'
  | 'repeated'
  | 'edited'
  | 'cut off'
  | 'foreign'
  | 'signature'
  | 'head'
  | 'unreadable'
  | 'ruling'
  | 'live';
