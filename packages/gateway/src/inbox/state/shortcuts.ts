import { useEffect, useRef } from 'preact/hooks';
import { createStore } from './store.ts';
import type { AnswerName } from '../palette/commands.ts';

const storageKey = 'countersign.shortcuts';

/** True: single-key shortcuts are on. Users of voice control turn them off, because words would press keys. */
export const shortcutsOn = createStore(readChoice());

export function switchShortcuts(on: boolean): void {
  shortcutsOn.set(on);
  try {
    localStorage.setItem(storageKey, on ? 'on' : 'off');
  } catch {
    // A browser without storage forgets the choice.
  }
}

/** The action of each key, by `KeyboardEvent.key`. If an action returns false, the key keeps its other effects. */
export type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => unknown>>;

/** The keys that act again and again while they are pressed. */
const repeating = ['j', 'k', 'ArrowDown', 'ArrowUp'];

/** Handles single keys while the component is shown, unless the user is typing or a dialog is open. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const { key, target } = event;
      const action = Object.hasOwn(latest.current, key) ? latest.current[key] : undefined;
      if (action === undefined || event.defaultPrevented || !shortcutsOn.get()) return;
      if (event.ctrlKey || event.metaKey || event.altKey || (event.repeat && !repeating.includes(key))) return;
      if (isTyping(target) || document.querySelector('dialog[open]') !== null) return;
      if (action(event) !== false) event.preventDefault();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button'].includes(target.type);
  return target.isContentEditable || target.matches('textarea, select');
}

function readChoice(): boolean {
  try {
    return localStorage.getItem(storageKey) !== 'off';
  } catch {
    return true;
  }
}

/** The possible answers to the shown request. Each function opens a form or focuses a button. */
export type AnswerActions = Partial<Record<AnswerName, () => void>>;

/** The answers to the shown request. Empty unless the user can answer it. */
export const answerActions = createStore<AnswerActions>({});

export const openOverlay = createStore<'palette' | 'help' | 'settings' | undefined>(undefined);
