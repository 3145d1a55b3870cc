import { useEffect, useRef, useState } from 'preact/hooks';
import { decidingTexts } from 'countersign/card';
import type { ApprovalView, InboxPage, InboxRow } from '../../http/inbox/api.ts';
import { asProblem, getJson, requestPath, apiPath, type ApiProblem } from '../api/fetch-json.ts';
import { onRequestChange, openRequests } from '../state/open-requests.ts';
import { isSameRequest, type RequestIds } from '../state/paths.ts';
import { problemText } from '../state/texts.ts';
import { announceText } from '../state/store.ts';
import { makeWholeCard, type WholeCard } from './whole-card.ts';
import type { ApprovalDetails } from 'countersign/client';

export interface LoadedRequest {
  view: ApprovalView;
  /** The time when the present text appeared on the screen, by the clock of this computer. */
  shownAtMs: number;
  /** The request as the reviewer has seen it. It differs from the request in `view` if `hasChanged` is true. */
  seen: ApprovalView['request'];
  hasChanged: boolean;
  /** Present if the view has only what the list's row has: the run has not answered yet, or it has no worker. */
  part?: 'reading' | 'no_worker';
  lost?: ApiProblem;
}

export interface LiveRequest {
  shown?: LoadedRequest;
  problem?: ApiProblem;
  /** Reads the request again. Resolves with false if it has changed since the reviewer saw it. */
  reload: () => Promise<boolean>;
  lookAgain: () => void;
}

const [pollMs, pendingPollMs] = [10_000, 1_000];
/** The wait before the page shows the row. Usually the worker answers earlier, and the reviewer sees only one card. */
const patienceMs = 300;

/** Reads a request, and reads it again when the inbox reports a change, and every few seconds on a visible page. */
export function useRequest(workflowId: string, requestId: string): LiveRequest {
  const [state, setState] = useState<Pick<LiveRequest, 'shown' | 'problem'>>({});
  const latest = useRef(state);
  const set = (next: Pick<LiveRequest, 'shown' | 'problem'>): void => {
    latest.current = next;
    setState(next);
  };
  const reload = async (): Promise<boolean> => {
    try {
      const view = await getJson<ApprovalView>(requestPath({ workflowId, requestId }));
      const { shown: before } = latest.current;
      // Until now, the page showed only the row. So the reviewer begins to read the whole request only now.
      if (before?.part !== undefined && before.view.request.digest === view.request.digest) {
        set({ shown: { view, seen: view.request, shownAtMs: Date.now(), hasChanged: false } });
        return true;
      }
      const isOther = before !== undefined && decidingTexts(before.view.request) !== decidingTexts(view.request);
      // Reads may end in another order than they began. So a later read may have shown the change already.
      const hasChanged = isOther || (before?.hasChanged ?? false);
      const shownAtMs = before === undefined || isOther ? Date.now() : before.shownAtMs;
      const seen = hasChanged ? (before?.seen ?? view.request) : view.request;
      set({ shown: { view, seen, shownAtMs, hasChanged } });
      return !hasChanged;
    } catch (error) {
      const problem = asProblem(error);
      if (problem.code === 'no_worker') await showPart('no_worker');
      const { shown } = latest.current;
      if (shown?.part === undefined || problem.code !== 'no_worker') {
        set(shown === undefined ? { problem } : { shown: { ...shown, lost: problem } });
      }
      return shown?.hasChanged !== true;
    }
  };
  /** Shows what the row has, unless the page shows more already. */
  const showPart = async (part: NonNullable<LoadedRequest['part']>): Promise<void> => {
    const { shown } = latest.current;
    if (shown !== undefined) {
      if (shown.part === 'reading' && part === 'no_worker') set({ shown: { ...shown, part } });
      return;
    }
    const view = await readRowView({ workflowId, requestId }).catch(() => undefined);
    if (view === undefined) return;
    if (latest.current.shown !== undefined) return showPart(part);
    set({ shown: { view, seen: view.request, shownAtMs: Date.now(), hasChanged: false, part } });
  };
  // A hidden page does not read: without a worker, each read uses one of the browser's few connections for seconds.
  const look = (): void => {
    if (document.visibilityState === 'visible') void reload();
  };
  const isPending = state.shown?.view.card.preview?.state === 'pending';
  const isOver = state.shown?.view.request.settled !== undefined;
  useEffect(() => {
    const patience = setTimeout(() => {
      if (latest.current.shown === undefined && latest.current.problem === undefined) void showPart('reading');
    }, patienceMs);
    void reload();
    const stop = onRequestChange((about) => {
      if (about === undefined || isSameRequest(about, { workflowId, requestId })) void reload();
    });
    document.addEventListener('visibilitychange', look);
    return () => {
      clearTimeout(patience);
      stop();
      document.removeEventListener('visibilitychange', look);
    };
  }, [workflowId, requestId]);
  useEffect(() => {
    if (isOver) return undefined;
    const timer = setInterval(look, isPending ? pendingPollMs : pollMs);
    return () => clearInterval(timer);
  }, [workflowId, requestId, isPending, isOver]);
  const lookAgain = (): void => {
    const { shown } = latest.current;
    if (shown !== undefined)
      set({ shown: { ...shown, seen: shown.view.request, hasChanged: false, shownAtMs: Date.now() } });
  };
  return { ...state, reload, lookAgain };
}

/** The card with its whole text after a call of `unfold`. If the text changes, the card is shortened again. */
export function useWholeCard(shown: LoadedRequest | undefined): { whole: WholeCard | undefined; unfold: () => void } {
  const [unfolded, setUnfolded] = useState<WholeCard & { shownAtMs: number }>();
  const whole = unfolded?.shownAtMs === shown?.shownAtMs ? unfolded : undefined;
  const unfold = (): void => {
    if (shown === undefined || shown.part !== undefined || whole !== undefined || shown.view.card.whole) return;
    const { shownAtMs, view } = shown;
    announceText('Making the whole card …');
    makeWholeCard({ request: view.request }).then(
      (made) => {
        setUnfolded({ ...made, shownAtMs });
        announceText('Everything is shown now.');
      },
      (error: unknown) => announceText(problemText(error), 'bad'),
    );
  };
  return { whole, unfold };
}

/** Makes a partial view of an open request from its row, which needs no worker. Undefined if there is no such row. */
export async function readRowView(ids: RequestIds): Promise<ApprovalView | undefined> {
  const row = await rowOf(ids);
  if (row === undefined) return undefined;
  const { sentence, waitsFor } = row;
  const request = requestOf(row);
  const { card, digest: cardDigest } = await makeWholeCard({ request: { ...request, shown: 'part' }, sentence });
  return { request, card, cardDigest, waitsFor };
}

async function rowOf(ids: RequestIds): Promise<InboxRow | undefined> {
  const isIt = (row: InboxRow): boolean => isSameRequest(row, ids);
  const listed = openRequests.get().open?.rows.find(isIt);
  if (listed !== undefined) return listed;
  const path = apiPath`/approvals?workflowId=${ids.workflowId}`;
  return (await getJson<InboxPage>(`${path}&limit=500`)).approvals.find(isIt);
}

/** The request as far as its row has it. What only the run knows, such as the whole arguments, is empty. */
function requestOf(row: InboxRow): ApprovalDetails {
  const { severity, callerName, argumentNames, notShown = argumentNames, reviewers = [], lineage = [] } = row;
  // These members are of the list. The `sentence` of a request is the tool's own, and that of a row may be another.
  const { sentence: _, waitsFor: __, undelivered: ___, ...facts } = row;
  return {
    ...facts,
    arguments: {},
    argumentNames,
    notShown,
    reviewers,
    lineage,
    assessment: {
      severity,
      reasons: [],
      affectedResources: [],
      reversible: row.riskLevel !== 'destructive',
      recommendations: [],
      requiresApproval: true,
    },
    contextSummary: '',
    metadata: {},
    ...(callerName !== undefined &&
      row.callerUserId !== null && { people: { [row.callerUserId]: { name: callerName } } }),
  };
}
