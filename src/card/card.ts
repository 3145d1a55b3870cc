import type { CallPreview } from '../core/base/call-preview.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import type { AlwaysTerms } from '../core/ledger/make-grant.ts';
import type { EarlierDenial } from '../core/ledger/denials.ts';
import type { EarlierRun } from '../core/ledger/earlier-run.ts';
import type { NamedPerson } from '../core/people/directory.ts';
import type { ApprovalRequest, ReviewerVote, Settlement, UserMessages } from '../core/ledger/approval.ts';

/**
 * What a reviewer sees of a request, before it is written for a channel. All texts are visible: a renderer escapes only
 * what its channel would read as markup.
 */

/** Text from elsewhere. If it is cut, `hidden` characters of it are between `text` and `end`. */
export interface CardText {
  text: string;
  hidden?: number;
  end?: string;
  /** An instant (ISO 8601) that follows the text, behind a comma. A renderer writes it by its reader's clock. */
  at?: string;
}

/** One fact, under a label that the card made. */
export interface CardRow {
  label: string;
  texts: CardText[];
}

/** How a value is read. `json`: an object or array that is not opened further. */
export type FieldFormat =
  'text' | 'code' | 'money' | 'path' | 'address' | 'url' | 'date' | 'duration' | 'bytes' | 'number' | 'flag' | 'json';

/** One argument, or one member of an argument. */
export interface CardField {
  /** Such as `to` or `items[0].sku`. */
  name: string;
  /** The title that the tool's schema gives the argument. */
  title?: string;
  /** The description that the tool's schema gives the argument. */
  description?: string;
  format: FieldFormat;
  /** The exact value. Line feeds and tabs are the value's. */
  value: CardText;
  /** The same value in a form that people read more easily, such as `1.5 MiB` for 1572864 bytes. */
  reading?: string;
}

/** One line of a difference. */
export interface DiffLine {
  kind: 'same' | 'removed' | 'added' | 'place';
  text: CardText;
}

/** The change that a call would make. */
export type CardChange =
  | { kind: 'text'; name: string; what: string; lines: DiffLine[]; added: number; removed: number; hiddenLines: number }
  | {
      kind: 'table';
      name: string;
      columns: string[];
      /** A cell that changes has `before` and `after`, which are otherwise equal; null: there is none. */
      rows: {
        kind: 'same' | 'removed' | 'added' | 'changed';
        cells: { before: string | null; after: string | null }[];
      }[];
      hiddenRows: number;
      cutCells: number;
      totals: string[];
    };

/** An answer that a card offers; `nobody`: what follows without one. */
export type AnswerName = 'approve' | 'deny' | 'always' | 'edit' | 'respond' | 'nobody';

/** What follows if a reviewer gives this answer; `nobody`: if nobody answers. */
export interface CardAnswer {
  name: AnswerName;
  effect: string;
}

/** What a reviewer sees of a request, for every channel (docs/card.md). */
export interface Card {
  version: 1;
  requestId: string;
  toolName: string;
  /** `tool`: written by the tool's own `describe`. `card`: built from name and arguments. */
  sentence: CardText & { by: 'tool' | 'card' };
  /** Sentences about what may mislead, or may not be undone. */
  warnings: string[];
  arguments: CardField[];
  /** Names of arguments that reviewers do not see. */
  notShown: string[];
  /** Absent: the tool has no preview. */
  preview?: { state: 'pending' } | { state: 'failed'; message: CardText } | { state: 'ready'; changes: CardChange[] };
  why: CardRow[];
  who: CardRow[];
  /** The text that the model wrote with the call, else the last message of the user. Nobody checked it. */
  words?: CardText;
  time: {
    requestedAt: string;
    deadline: string | null;
    /** Such as `4m10s`; the digest leaves it out. */ left?: string;
  };
  /** Absent: the request is open. */
  settled?: CardRow[];
  /** Empty for a settled request. */
  answers: CardAnswer[];
  /** The whole call as canonical JSON, invisible characters escaped as JSON does. */
  raw: string;
  /** False: something is cut, bounded or withheld. */
  whole: boolean;
}

/** True if any part of the text is hidden. */
export function isCut({ hidden = 0 }: CardText): boolean {
  return hidden > 0;
}

/** A request, and what is known beside it: the answer of query `approvals` with an id. */
export interface CardRequest extends ApprovalRequest {
  settled?: Settlement;
  votes?: ReviewerVote[];
  approvals?: { have: number; need: number };
  cannotBeApproved?: string;
  delegations?: { from: string; to: string }[];
  schema?: JsonObject;
  preview?: CallPreview;
  always?: AlwaysTerms;
  ranBefore?: EarlierRun;
  deniedBefore?: EarlierDenial;
  userMessages?: UserMessages;
  /** What the operator's directory says of the people who are named here. */
  people?: Record<string, NamedPerson>;
  /** What happens at the deadline. Default: `deny`. */
  onTimeout?: 'deny' | 'allow';
}

/** What a reviewer decides by, as one text; without what may change at any time: votes, seats, the deadline, the outcome. */
export function decidingTexts(request: CardRequest): string {
  const {
    votes: _,
    approvals: __,
    delegations: ___,
    deadline: ____,
    reviewers: _____,
    settled: ______,
    always: _______,
    ...texts
  } = request;
  return JSON.stringify(texts);
}
