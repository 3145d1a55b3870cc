import { useEffect, useState } from 'preact/hooks';

export interface Store<T> {
  get(): T;
  set(value: T): void;
  update(change: (value: T) => T): void;
  subscribe(listener: () => void): () => void;
}

export function createStore<T>(first: T): Store<T> {
  let value = first;
  const listeners = new Set<() => void>();
  const set = (next: T): void => {
    if (Object.is(next, value)) return;
    value = next;
    for (const listener of listeners) listener();
  };
  return {
    get: () => value,
    set,
    update: (change) => set(change(value)),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The value of a store; the component is drawn again when it changes. */
export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(() => ({ of: store.get() }));
  useEffect(() => {
    const follow = (): void => setValue((before) => (Object.is(before.of, store.get()) ? before : { of: store.get() }));
    // It may have changed since the last render.
    follow();
    return store.subscribe(follow);
  }, [store]);
  return value.of;
}

/** The announcement for screen readers, which stays at the foot of the page until the next one. */
export interface Announcement {
  text: string;
  tone: 'plain' | 'good' | 'bad';
}

export const announcement = createStore<Announcement | undefined>(undefined);

/** The title of the shown view, if it has a better one than its route. */
export const viewTitle = createStore<string | undefined>(undefined);

export function announceText(text: string, tone: Announcement['tone'] = 'plain'): void {
  announcement.set({ text, tone });
}
