import type { Session } from '../server/connect.ts';

/** Viewers of a client that read the history themselves, at a time, and how long one may leave an event untaken. */
const most = 4;
const longestMs = 2_000;

/** The right to hold a page of history for a viewer that is behind its feed. */
export interface CatchUp {
  /** True once the viewer has lost its turn: it has to begin again at its place. */
  isOver(): boolean;
  /** Gives the viewer an event: `letGo` is called if it does not take it in time. The result is called when it has. */
  offer(letGo: () => void): () => void;
  end(): void;
}

const running = new WeakMap<Session, { count: number; waiting: (() => void)[] }>();

/**
 * Waits for a turn to read the history. A viewer that does not take what was read for it loses its turn and the page, so
 * the memory of a client does not grow with the number of such viewers, and none of them holds up the others for long.
 */
export async function catchUp(session: Session): Promise<CatchUp> {
  const all = running.get(session) ?? { count: 0, waiting: [] };
  running.set(session, all);
  if (all.count >= most) await new Promise<void>((resolve) => all.waiting.push(resolve));
  else all.count += 1;
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    const next = all.waiting.shift();
    if (next === undefined) all.count -= 1;
    else next();
  };
  return {
    isOver: () => isOver,
    offer: (letGo) => {
      const timer = setTimeout(() => {
        letGo();
        end();
      }, longestMs);
      timer.unref();
      return () => clearTimeout(timer);
    },
    end,
  };
}
