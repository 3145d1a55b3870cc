import { createStore } from '../state/store.ts';

/** What is open over every view. */
export const openOverlay = createStore<'palette' | 'help' | 'settings' | undefined>(undefined);
