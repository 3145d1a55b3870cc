import { useEffect } from 'preact/hooks';
import { shownPerson } from 'countersign/base';
import { useShortcuts, openOverlay, shortcutsOn, switchShortcuts } from '../state/shortcuts.ts';
import { useStore } from '../state/store.ts';
import { CommandPalette } from './command-palette.tsx';
import { CloseButton, Modal } from '../parts/modal.tsx';
import { Foreign } from '../parts/shown-text.tsx';
import { SignOut } from '../parts/sign-in.tsx';
import { meOf, session } from '../state/me.ts';
import { askForNotifications, notificationState } from '../state/notifications.ts';
import type { Me } from '../../http/inbox/api.ts';
import { pushState, switchPush } from '../state/push.ts';
import { Button, Checkbox } from '../parts/controls.tsx';

const notificationTexts: Readonly<Record<ReturnType<typeof notificationState.get>, string>> = {
  default: 'The browser then notifies you of new requests while the inbox is open in a tab and you look elsewhere.',
  granted: 'This browser notifies you of new requests while the inbox is open in a tab and you look elsewhere.',
  denied: 'This browser does not let the inbox notify you. Its settings for this address can change that.',
  unsupported:
    'This browser cannot notify you from this address. On an iPhone, add the inbox to the home screen first; elsewhere, the address must begin with https.',
};

/** The command palette, the help and the settings, which open over every view. Ctrl-K, Cmd-K and `?` open them. */
export function Overlay() {
  const open = useStore(openOverlay);
  const close = (): void => openOverlay.set(undefined);
  useShortcuts({ '?': () => openOverlay.set('help') });
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || event.altKey || event.shiftKey) return;
      if (event.ctrlKey === event.metaKey) return;
      event.preventDefault();
      // Over a dialog of a view, such as one for a decision, the palette does not open.
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

function Settings({ onClose }: { onClose: () => void }) {
  const notifications = useStore(notificationState);
  const me = meOf(useStore(session));
  return (
    <Modal title="Settings of this browser" onClose={onClose}>
      {me !== undefined && (
        <p class="account">
          <span>
            Signed in as <Foreign text={shownPerson(me.id, me.name)} most={300} />
            <span class="soft"> ({me.roles.join(', ')})</span>
          </span>{' '}
          {me.via === 'session' && <SignOut />}
        </p>
      )}
      <section>
        <h3>Notifications</h3>
        {notifications === 'default' && (
          <p>
            <Button onClick={() => void askForNotifications()}>Notify me of new requests</Button>
          </p>
        )}
        <p class="soft">{notificationTexts[notifications]}</p>
        {me !== undefined && <PushSwitch me={me} />}
      </section>
      <section>
        <h3>Keys</h3>
        <p>
          <Button onClick={() => openOverlay.set('help')}>Show all keys</Button>
        </p>
      </section>
      <CloseButton onClose={onClose} />
    </Modal>
  );
}

export function PushSwitch({ me }: { me: Me }) {
  const state = useStore(pushState);
  if (state === 'unavailable') return null;
  return (
    <Checkbox
      class="switch"
      checked={state === 'on'}
      disabled={state === 'changing'}
      change={(isOn) => void switchPush(isOn, me)}
    >
      Notify me also when the inbox is closed
    </Checkbox>
  );
}

const keys: readonly [group: string, rows: readonly [keys: readonly string[], does: string][]][] = [
  [
    'Everywhere',
    [
      [['Ctrl', 'K'], 'find or do something (on a Mac: Cmd K)'],
      [['?'], 'this help'],
      [['Esc'], 'close what is open; in a request without a form, back to the list'],
      [['z'], 'undo the last approval, while it can be undone'],
    ],
  ],
  [
    'In the list',
    [
      [['j'], 'next request'],
      [['k'], 'previous request'],
      [['Enter'], 'open it'],
      [['x'], 'select it'],
      [['a'], 'prepare to approve what is selected, or this one'],
      [['d'], 'prepare to deny it'],
    ],
  ],
  [
    'In a request',
    [
      [['a'], 'approve: Enter then presses the button'],
      [['A'], 'approve, and allow similar calls'],
      [['d'], 'deny with a reason'],
      [['e'], 'edit the arguments'],
      [['r'], 'answer instead of the tool'],
      [['t'], 'give it more time'],
      [['v'], 'show everything that is cut'],
      [['n'], 'next request that waits for you'],
      [['Ctrl', 'Enter'], 'send the open form (on a Mac: Cmd Enter)'],
      [['u'], 'back to the list'],
    ],
  ],
  ['In a message to a run', [[['Ctrl', 'Enter'], 'send it (on a Mac: Cmd Enter)']]],
];

function ShortcutsHelp({ onClose }: { onClose: () => void }) {
  const isOn = useStore(shortcutsOn);
  return (
    <Modal title="Keys" onClose={onClose}>
      {keys.map(([group, rows]) => (
        <section key={group}>
          <h3>{group}</h3>
          <dl class="keys">
            {rows.map(([pressed, does]) => (
              <div key={does}>
                <dt>
                  {pressed.map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <Checkbox class="switch" checked={isOn} change={switchShortcuts}>
        Single-key shortcuts
      </Checkbox>
      <CloseButton onClose={onClose} />
    </Modal>
  );
}
