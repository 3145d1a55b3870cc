import { useRef, useState } from 'preact/hooks';
import { Modal } from '../parts/modal.tsx';
import { type AnswerName, type Command, commandsFor, foundCommands } from './commands.ts';
import { answerActions, shortcutsOn, switchShortcuts, openOverlay } from '../state/shortcuts.ts';
import { meOf, session } from '../state/me.ts';
import { openRequests } from '../state/open-requests.ts';
import { useStore, announceText } from '../state/store.ts';
import { hrefOf, navigate } from '../state/location.ts';
import { askForNotifications } from '../state/notifications.ts';
import { Button } from '../parts/controls.tsx';

const list = 'palette-list';
const optionId = (index: number): string => `palette-option-${index}`;

export function CommandPalette({ onClose }: { onClose: () => void }) {
  const me = meOf(useStore(session));
  const { open } = useStore(openRequests);
  const [query, setQuery] = useState('');
  const [active, setActive] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const found = foundCommands(
    commandsFor(me, open?.rows ?? [], Object.keys(useStore(answerActions)) as AnswerName[]),
    query,
  );
  const at = Math.min(active, found.length - 1);
  const choose = (command: Command | undefined): void => {
    if (command === undefined) return;
    onClose();
    runCommand(command);
  };
  const move = (to: number): void => {
    const next = (to + found.length) % Math.max(1, found.length);
    setActive(next);
    document.getElementById(optionId(next))?.scrollIntoView({ block: 'nearest' });
  };
  const press = (event: KeyboardEvent): void => {
    const moves: Record<string, () => void> = {
      ArrowDown: () => move(at + 1),
      ArrowUp: () => move(at - 1),
      PageDown: () => move(Math.min(found.length - 1, at + 10)),
      PageUp: () => move(Math.max(0, at - 10)),
      Enter: () => choose(found[at]),
    };
    if (event.isComposing || !Object.hasOwn(moves, event.key)) return;
    event.preventDefault();
    moves[event.key]!();
  };
  return (
    <Modal title="Find a page, a request or a command" hidesTitle onClose={onClose}>
      <input
        ref={input}
        class="palette-input"
        type="text"
        role="combobox"
        autofocus
        autocomplete="off"
        spellcheck={false}
        placeholder="Find a page, a request, a run or a command"
        aria-label="Find a page, a request or a command"
        aria-expanded="true"
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={at < 0 ? undefined : optionId(at)}
        value={query}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={press}
      />
      <ul id={list} class="palette-list" role="listbox" aria-label="Found">
        {found.map((command, index) => (
          <li
            key={command.id}
            id={optionId(index)}
            role="option"
            aria-selected={index === at}
            onClick={() => choose(command)}
            onPointerMove={() => setActive(index)}
          >
            <span class="soft">{command.group}</span> <bdi>{command.text}</bdi>
          </li>
        ))}
      </ul>
      <p class="visually-hidden" role="status">
        {found.length} found
      </p>
      <div class="buttons">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Modal>
  );
}

function runCommand({ path, act, answer }: Command): void {
  if (path !== undefined) navigate(hrefOf(path));
  if (act === 'help' || act === 'settings') openOverlay.set(act);
  if (act === 'notify') void askForNotifications();
  // The timeout lets the palette return the focus first.
  if (answer !== undefined) setTimeout(() => answerActions.get()[answer]?.(), 0);
  if (act === 'keys') {
    switchShortcuts(!shortcutsOn.get());
    announceText(
      shortcutsOn.get() ? 'Single-key shortcuts are on.' : 'Single-key shortcuts are off. Ctrl K still works.',
    );
  }
}
