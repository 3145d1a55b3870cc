import { useCallback, useEffect, useState } from 'preact/hooks';
import { type ApiProblem, asProblem, getJson } from './fetch-json.ts';

/** The state of reading a response. If it has `value` and `problem`, the last read failed, and the value is older. */
export interface Loaded<T> {
  value?: T;
  problem?: ApiProblem;
  isLoading: boolean;
  reload: () => void;
}

const againMs = 5_000;

/** Reads a response, and again when `path` or `version` changes. If no worker or gateway answers, it retries soon. */
export function useJson<T>(path: string | undefined, version: string | number = 0): Loaded<T> {
  const [loaded, setLoaded] = useState<{ from?: string; value?: T; problem?: ApiProblem; isLoading: boolean }>({
    isLoading: path !== undefined,
  });
  const [reloads, setReloads] = useState(0);
  const reload = useCallback(() => setReloads((count) => count + 1), []);
  useEffect(() => {
    if (path === undefined) return undefined;
    const own = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    setLoaded((before) => (before.from === path ? { ...before, isLoading: true } : { from: path, isLoading: true }));
    getJson<T>(path, own.signal).then(
      (value) => !own.signal.aborted && setLoaded({ from: path, value, isLoading: false }),
      (error: unknown) => {
        if (own.signal.aborted) return;
        const problem = asProblem(error);
        setLoaded((before) => ({ ...before, problem, isLoading: false }));
        if (problem.code === 'no_worker' || problem.code === 'server_unreachable') {
          timer = setTimeout(reload, againMs);
        }
      },
    );
    return () => {
      own.abort();
      clearTimeout(timer);
    };
  }, [path, reloads, version, reload]);
  const { from, value, problem, isLoading } = loaded;
  return from === path ? { value, problem, isLoading, reload } : { isLoading: path !== undefined, reload };
}
