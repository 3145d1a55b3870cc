import { Modal } from '../parts/modal.tsx';
import { shortcutsOn, switchShortcuts } from '../state/shortcuts.ts';
import { useStore } from '../state/store.ts';

const keys: readonly [group: string, rows: readonly [keys: readonly string[], does: string][]][] = [
  [
    'Everywhere',
    [
      [['Ctrl', 'K'], 'find or do something (on a Mac: Cmd K)'],
      [['?'], 'this help'],
      [['Esc'], 'close what is open'],
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
      [['a'], 'go to the button that approves; Enter presses it'],
      [['A'], 'approve, and always approve calls like it'],
      [['d'], 'deny with a reason'],
      [['e'], 'edit the arguments'],
      [['r'], 'answer in the place of the tool'],
      [['x'], 'extend its deadline'],
      [['v'], 'show everything that is cut'],
      [['n'], 'next request that waits for you'],
    ],
  ],
  ['In a message to a run', [[['Ctrl', 'Enter'], 'send it (on a Mac: Cmd Enter)']]],
];

/** All keys, and whether single ones are enabled. */
export function ShortcutsHelp({ onClose }: { onClose: () => void }) {
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
      <label class="switch">
        <input type="checkbox" checked={isOn} onChange={(event) => switchShortcuts(event.currentTarget.checked)} />
        Single-key shortcuts
      </label>
      <div class="buttons">
        <button type="button" class="primary" autofocus onClick={onClose}>
          Close
        </button>
      </div>
    </Modal>
  );
}
