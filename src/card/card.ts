import type { CallPreview } from '../core/base/call-preview.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import type { AlwaysTerms } from '../core/ledger/make-grant.ts';
import type { EarlierDenial } from '../core/ledger/denials.ts';
import type { EarlierRun } from '../core/ledger/earlier-run.ts';
import type { NamedPerson } from '../core/people/directory.ts';
import type { ApprovalRequest, ReviewerVote, Settlement, UserMessages } from '../core/ledger/approval.ts';

/** Untrusted text. If it is cut, `hidden` characters are left out between `text` and `end`. */
export interface CardText {
  text: string;
  hidden?: number;
  end?: string;
  /** An instant (ISO 8601) to show after the text and a comma. A renderer formats it for the reader's clock. */
  at?: string;
}

/** A labelled row of a card. */
export interface CardRow {
  label: string;
  texts: CardText[];
}

/** The format of a value. `json` is an object or array that is shown as JSON, because its members have no fields. */
export type FieldFormat =
  'text' | 'code' | 'money' | 'path' | 'address' | 'url' | 'date' | 'duration' | 'bytes' | 'number' | 'flag' | 'json';

/** An argument of the call, or a value nested in one. */
export interface CardField {
  /** The name of the argument, such as `to` or `items[0].sku`. */
  name: string;
  /** The title in the tool's schema. `description` is also from there. */
  title?: string;
  description?: string;
  format: FieldFormat;
  /** The exact value, with its own line feeds and tabs. */
  value: CardText;
  /** The value in a more readable form, such as `1.5 MiB` for 1572864 bytes. Absent if `value` is readable itself. */
  reading?: string;
  /** The warnings about this field, as sentences. The card's `warnings` contain them, too. */
  warnings?: string[];
  /** The parts of the name of a nested value, such as `items`, `[0]`, `sku`. Absent: the name is the only part. */
  path?: string[];
}

/** A part of a sentence that the card wrote. The punctuation between the parts is only in the sentence itself. */
export interface SentencePart {
  kind: 'tool' | 'name' | 'value' | 'more';
  text: string;
}

/** A line of a diff. The kind `place` is for lines such as `@@ -1,3 +1,4 @@`. */
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
      /** In a changed cell, `before` and `after` differ. Null means that there is no value before, or none after. */
      rows: {
        kind: 'same' | 'removed' | 'added' | 'changed';
        cells: { before: string | null; after: string | null }[];
      }[];
      hiddenRows: number;
      cutCells: number;
      totals: string[];
    };

/** An answer that a card offers. `nobody` stands for no answer until the deadline. */
export type AnswerName = 'approve' | 'deny' | 'always' | 'edit' | 'respond' | 'nobody';

/** The effect of one answer. */
export interface CardAnswer {
  name: AnswerName;
  effect: string;
}

/**
 * What a reviewer sees of a request, in every channel (docs/card.md). Invisible characters are already escaped in all
 * texts, so a renderer escapes only its channel's markup.
 */
export interface Card {
  version: 1;
  requestId: string;
  toolName: string;
  /** `by` says who wrote the sentence: the tool, by its `describe`, or the card, from the tool's name and arguments. */
  sentence: CardText & { by: 'tool' | 'card'; parts?: SentencePart[] };
  /** Sentences that warn of misleading, irreversible or hidden parts. They do not contain `cut`. */
  warnings: string[];
  /** One sentence about what is cut, left out or withheld. Absent if nothing is. */
  cut?: string;
  arguments: CardField[];
  /** Names of arguments that are hidden from reviewers. */
  notShown: string[];
  /** The preview of the call. Absent if the tool has none. */
  preview?: { state: 'pending' } | { state: 'failed'; message: CardText } | { state: 'ready'; changes: CardChange[] };
  /** Why the call needs a decision, in one sentence. */
  reason: CardText;
  /** What else a reviewer needs for the decision: findings, advice, earlier answers. */
  why: CardRow[];
  /** Where the call comes from: tool, agent, run, rule, reviewers, ids. */
  who: CardRow[];
  /** The text that the model wrote with the call, or else the user's last message. It is not verified. */
  words?: CardText;
  time: {
    requestedAt: string;
    deadline: string | null;
    /** The time left, such as `4 min 10 s`. It is not part of the card's digest. */
    left?: string;
  };
  /** How the request was settled. Absent while it is open. */
  settled?: CardRow[];
  /** The offered answers. Empty for a settled request. */
  answers: CardAnswer[];
  /** The whole call as canonical JSON, with invisible characters escaped. */
  raw: string;
  /** False if a part of the call is cut, left out or withheld. */
  whole: boolean;
}

export function isCut({ hidden = 0 }: CardText): boolean {
  return hidden > 0;
}

/** A request and its context, as the query `approvals` returns them for an id. */
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
  /** The operator's directory entries of the people in this request. */
  people?: Record<string, NamedPerson>;
  /** What the deadline does to the call if there is no answer. Default: `deny`. */
  onTimeout?: 'deny' | 'allow';
}

const unsteady = [
  'votes',
  'approvals',
  'approvers',
  'escalated',
  'accounts',
  'cannotBeApproved',
  'people',
  'delegations',
  'reviewers',
  'channels',
  'deadline',
  'settled',
  'always',
] as const;

/** Returns the texts on which a reviewer decides, without what changes while the request waits, such as votes. */
export function decidingTexts(request: CardRequest): string {
  const texts: Partial<Record<string, unknown>> = { ...request };
  for (const name of unsteady) delete texts[name];
  return JSON.stringify(texts);
}
