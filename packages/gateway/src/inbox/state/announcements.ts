import { createStore } from './store.ts';

/** What screen readers say, and what stands at the foot of the page until the next one. */
export interface Announcement {
  text: string;
  tone: 'plain' | 'good' | 'bad';
}

export const announcement = createStore<Announcement | undefined>(undefined);

export function announceText(text: string, tone: Announcement['tone'] = 'plain'): void {
  announcement.set({ text, tone });
}
