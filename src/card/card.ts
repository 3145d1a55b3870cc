import type { CallPreview } from '../core/base/call-preview.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import type { AlwaysTerms } from '../core/ledger/make-grant.ts';
import type { EarlierDenial } from '../core/ledger/denials.ts';
import type { EarlierRun } from '../core/ledger/earlier-run.ts';
import type { NamedPerson } from '../core/people/directory.ts';
import type { ApprovalRequest, ReviewerVote, Settlement, UserMessages } from '../core/ledger/approval.ts';

/** Untrusted text. If it is cut, `hidden` characters of it are between `text` and `end`. */
export interface CardText {
  text: string;
  hidden?: number;
  end?: string;
  /** An instant (ISO 8601) that follows the text, behind a comma. A renderer formats it for its reader's clock. */
  at?: string;
}

/** One fact, under a label of the card. */
export interface CardRow {
  label: string;
  texts: CardText[];
}

/** The format of a value. `json`: an object or array whose members have no fields. */
export type FieldFormat =
  'text' | 'code' | 'money' | 'path' | 'address' | 'url' | 'date' | 'duration' | 'bytes' | 'number' | 'flag' | 'json';

/** One argument, or one member of an argument. */
export interface CardField {
  /** The name of the argument, such as `to` or `items[0].sku`. */
  name: string;
  /** From the tool's schema, as is `description`. */
  title?: string;
  description?: string;
  format: FieldFormat;
  /** The exact value, with its own line feeds and tabs. */
  value: CardText;
  /** The value in a more readable form, such as `1.5 MiB` for 1572864 bytes. Absent: `value` is readable itself. */
  reading?: string;
  /** The sentences of warning that are about this field. The card's `warnings` have them, too. */
  warnings?: string[];
  /** The parts of the name of a nested value, such as `items`, `[0]`, `sku`. Absent: the name is the only part. */
  path?: string[];
}

/** A part of a built sentence. The sentence also has the signs between its parts. */
export interface SentencePart {
  kind: 'tool' | 'name' | 'value' | 'more';
  text: string;
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
      /** In a cell that changes, `before` and `after` differ. Null: there is no value before, or none after. */
      rows: {
        kind: 'same' | 'removed' | 'added' | 'changed';
        cells: { before: string | null; after: string | null }[];
      }[];
      hiddenRows: number;
      cutCells: number;
      totals: string[];
    };

/** An answer that a card offers. `nobody`: no answer until the deadline. */
export type AnswerName = 'approve' | 'deny' | 'always' | 'edit' | 'respond' | 'nobody';

/** The effect of one answer. */
export interface CardAnswer {
  name: AnswerName;
  effect: string;
}

/**
 * A reviewer's view of a request, for every channel (docs/card.md). All texts are visible: a renderer escapes only its
 * channel's markup.
 */
export interface Card {
  version: 1;
  requestId: string;
  toolName: string;
  /** `by`: the tool's own `describe`, or the card, from the tool's name and the arguments. */
  sentence: CardText & { by: 'tool' | 'card'; parts?: SentencePart[] };
  /** Sentences about misleading, irreversible or hidden parts, but for `cut`. */
  warnings: string[];
  /** One sentence about what is cut, left out or withheld. Absent: nothing is. */
  cut?: string;
  arguments: CardField[];
  /** Names of arguments that are hidden from reviewers. */
  notShown: string[];
  /** The preview of the call. Absent: the tool has none. */
  preview?: { state: 'pending' } | { state: 'failed'; message: CardText } | { state: 'ready'; changes: CardChange[] };
  /** Why the call needs a decision, in one sentence. */
  reason: CardText;
  /** What else a reviewer weighs: findings, advice, earlier answers. */
  why: CardRow[];
  /** Where the call comes from: tool, agent, run, rule, reviewers, ids. */
  who: CardRow[];
  /** The model's text beside the call, else the last message of the user. It is unverified. */
  words?: CardText;
  time: {
    requestedAt: string;
    deadline: string | null;
    /** The time left, such as `4 min 10 s`. It is not part of the card's digest. */
    left?: string;
  };
  /** How the request was settled. Absent: it is open. */
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

/** A request and its context: the answer of query `approvals` with an id. */
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
  /** The operator's directory entries of the people who are named here. */
  people?: Record<string, NamedPerson>;
  /** The answer that the deadline gives. Default: `deny`. */
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

/**
 * The texts on which a reviewer bases a decision, without what may change at any time: votes, seats and their holders,
 * channels, the deadline, the outcome.
 */
export function decidingTexts(request: CardRequest): string {
  const texts: Partial<Record<string, unknown>> = { ...request };
  for (const name of unsteady) delete texts[name];
  return JSON.stringify(texts);
}
