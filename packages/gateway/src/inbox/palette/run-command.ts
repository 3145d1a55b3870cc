import { answerActions } from '../state/answer-actions.ts';
import { announce } from '../state/announcements.ts';
import { hrefOf, navigate } from '../state/location.ts';
import { askForNotifications } from '../state/notifications.ts';
import { shortcutsOn, switchShortcuts } from '../state/shortcuts.ts';
import type { Command } from './commands.ts';
import { openOverlay } from './overlays.ts';

export function runCommand({ path, act, answer }: Command): void {
  if (path !== undefined) navigate(hrefOf(path));
  if (act === 'help' || act === 'settings') openOverlay.set(act);
  if (act === 'notify') void askForNotifications();
  // Once the palette has given the focus back.
  if (answer !== undefined) setTimeout(() => answerActions.get()[answer]?.(), 0);
  if (act === 'keys') {
    switchShortcuts(!shortcutsOn.get());
    announce(shortcutsOn.get() ? 'Single-key shortcuts are on.' : 'Single-key shortcuts are off. Ctrl K still works.');
  }
}
