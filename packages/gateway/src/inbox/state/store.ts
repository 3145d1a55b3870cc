import { useEffect, useState } from 'preact/hooks';

export interface Store<T> {
  get(): T;
  set(value: T): void;
  update(change: (value: T) => T): void;
  subscribe(listener: () => void): () => void;
}

/** Makes a store with a first value. After each change it calls its listeners, but not if the value stays the same. */
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

/** The value of a store. The component is drawn again when the value changes. */
export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(() => ({ of: store.get() }));
  useEffect(() => {
    const follow = (): void => setValue((before) => (Object.is(before.of, store.get()) ? before : { of: store.get() }));
    // The value may have changed between the render and this effect.
    follow();
    return store.subscribe(follow);
  }, [store]);
  return value.of;
}

/** A text that screen readers announce. The page shows it until the next one. */
export interface Announcement {
  text: string;
  tone: 'plain' | 'good' | 'bad';
}

export const announcement = createStore<Announcement | undefined>(undefined);

/** The title of the shown view. Undefined: the title of its route. */
export const viewTitle = createStore<string | undefined>(undefined);

export function announceText(text: string, tone: Announcement['tone'] = 'plain'): void {
  announcement.set({ text, tone });
}
