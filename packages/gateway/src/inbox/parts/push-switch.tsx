import type { Me } from '../../http/inbox/api.ts';
import { pushState, switchPush } from '../state/push.ts';
import { useStore } from '../state/store.ts';

/** Whether this browser is told of requests while no inbox is open in it. Nothing if that cannot be. */
export function PushSwitch({ me }: { me: Me }) {
  const state = useStore(pushState);
  if (state === 'unavailable') return null;
  return (
    <label class="switch">
      <input
        type="checkbox"
        checked={state === 'on'}
        disabled={state === 'changing'}
        onChange={(event) => void switchPush(event.currentTarget.checked, me)}
      />
      Notify me also when the inbox is closed
    </label>
  );
}
