import { useEffect } from 'preact/hooks';
import { useShortcuts } from '../state/shortcuts.ts';
import { useStore } from '../state/store.ts';
import { CommandPalette } from './command-palette.tsx';
import { openOverlay } from './overlays.ts';
import { Settings } from './settings.tsx';
import { ShortcutsHelp } from './shortcuts-help.tsx';

/** The palette, the help and the settings over every view, and their keys: Ctrl-K or Cmd-K, and `?`. */
export function Overlay() {
  const open = useStore(openOverlay);
  const close = (): void => openOverlay.set(undefined);
  useShortcuts({ '?': () => openOverlay.set('help') });
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || event.altKey || event.shiftKey) return;
      if (event.ctrlKey === event.metaKey) return;
      event.preventDefault();
      // A dialog in which somebody decides stays in front.
      if (openOverlay.get() === 'palette') openOverlay.set(undefined);
      else if (document.querySelector('dialog[open]') === null || openOverlay.get() !== undefined) {
        openOverlay.set('palette');
      }
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  if (open === 'palette') return <CommandPalette onClose={close} />;
  if (open === 'settings') return <Settings onClose={close} />;
  return open === 'help' ? <ShortcutsHelp onClose={close} /> : null;
}
