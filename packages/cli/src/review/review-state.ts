import type { JsonObject } from 'countersign/base';
import type { ApprovalDetails, Decision, ApprovalSummary } from 'countersign/client';
import type { KeyPress } from './key-press.ts';
import type { ScopeEditor } from './scope-editor.ts';
import type { Size } from './screen.ts';
import type { TextField } from './text-field.ts';

/** What the reviewer sees of one request. */
export interface OpenCard {
  row: ApprovalSummary;
  /** Undefined while it is being read, and while no worker answers. */
  request?: ApprovalDetails | undefined;
  /** Why the request cannot be read from its run. */
  unanswered?: string | undefined;
  /** When it was first on the screen. */
  shownAtMs?: number;
  /** True: with the raw call. */
  unfolded: boolean;
  /** The first line of the body that is on the screen. */
  scroll: number;
  /** Lines from the top that have been on the screen, without a gap; Infinity once all were. */
  seen: number;
  /** What the reviewer writes beside an approval, for the model. */
  comment?: string | undefined;
  /** The past calls of its run and tool; undefined until they are read, or if they cannot be. */
  past?: readonly JsonObject[] | undefined;
}

/** A question to the reviewer about the card. */
export type Dialog =
  | { kind: 'reason' | 'comment' | 'response' | 'duration'; field: TextField; problem?: string }
  | { kind: 'arguments'; field: TextField; problem?: string }
  | { kind: 'scope'; editor: ScopeEditor }
  /** Confirms edited arguments. */
  | { kind: 'changes'; arguments: JsonObject; scroll: number; seen: number }
  | { kind: 'help' };

export interface Notice {
  text: string;
  tone: 'good' | 'bad' | 'plain';
}

export interface ReviewState {
  size: Size;
  nowMs: number;
  /** Who answers; undefined if a key says so, or nobody knows. */
  reviewer: string | undefined;
  /** The open requests as last listed, earliest deadline first. */
  rows: readonly ApprovalSummary[];
  /** False until the first list has been read. */
  isListed: boolean;
  /** True: more are open than are listed. */
  isCut: boolean;
  /** Requests that cannot be read here. */
  unread: number;
  /** Ids of requests that were answered or skipped here. */
  aside: Readonly<Record<string, 'answered' | 'skipped'>>;
  /** Ids of all requests that were ever listed. */
  known: readonly string[];
  /** Requests that came while this card was on the screen. */
  arrived: number;
  card?: OpenCard | undefined;
  dialog?: Dialog | undefined;
  /** True while an answer is on its way. */
  isSending: boolean;
  notice?: Notice | undefined;
  /** Why the server cannot be asked. */
  outage?: string | undefined;
  /** Grows with each change after which no key counts at first. */
  view: number;
  /** Since when this view has been on the screen and no key was pressed in vain; undefined: not yet. */
  quietFromMs?: number | undefined;
  /** The key that gave the last answer. */
  lastKey?: string | undefined;
  /** True if $VISUAL or $EDITOR names an editor. */
  hasEditor: boolean;
}

export type ReviewAnswer = Pick<Decision, 'approved' | 'always' | 'reason' | 'response' | 'modifiedArguments'>;

/** An approval with the comment that the reviewer wrote on the card. */
export function withComment({ comment }: OpenCard, answer: ReviewAnswer): ReviewAnswer {
  return answer.approved && comment !== undefined ? { ...answer, reason: comment } : answer;
}

/** What happens to the state. */
export type ReviewEvent =
  | { kind: 'press'; press: KeyPress }
  | { kind: 'tick' }
  | { kind: 'resized'; size: Size }
  | { kind: 'listed'; rows: readonly ApprovalSummary[]; unread: number; isCut?: boolean }
  | { kind: 'failed'; message: string }
  | { kind: 'read'; request: ApprovalDetails }
  | { kind: 'unanswered'; requestId: string; message: string }
  | { kind: 'past'; requestId: string; calls: readonly JsonObject[] | undefined }
  | { kind: 'drawn'; view: number }
  | { kind: 'sent'; notice: Notice; isDone: boolean }
  | { kind: 'edited'; arguments: JsonObject }
  | { kind: 'not-edited'; problem?: string };

/** What the session has to do after an event. */
export type Effect =
  | { kind: 'read'; row: ApprovalSummary }
  | { kind: 'read-past'; request: ApprovalDetails }
  | { kind: 'decide'; card: OpenCard; answer: ReviewAnswer }
  | { kind: 'extend'; card: OpenCard; untilMs: number }
  | { kind: 'open-editor'; arguments: JsonObject }
  | { kind: 'quit'; isInterrupted: boolean };

export interface Step {
  state: ReviewState;
  effects: Effect[];
}

export function openReview(state: Pick<ReviewState, 'size' | 'nowMs' | 'reviewer' | 'hasEditor'>): ReviewState {
  return {
    ...state,
    rows: [],
    isListed: false,
    isCut: false,
    unread: 0,
    aside: {},
    known: [],
    arrived: 0,
    isSending: false,
    view: 0,
  };
}

/** A state in which the screen shows something else, so that no key counts at first. */
export function changeView(state: ReviewState, change: Partial<ReviewState>): ReviewState {
  return { ...state, ...change, view: state.view + 1, quietFromMs: undefined };
}
