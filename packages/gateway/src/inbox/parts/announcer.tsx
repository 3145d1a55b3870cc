import { announcement } from '../state/announcements.ts';
import { useStore } from '../state/store.ts';

/** Says what has happened, to the eye and to screen readers. */
export function Announcer() {
  const said = useStore(announcement);
  return (
    <div class={`announcer ${said?.tone ?? 'plain'}`}>
      <p role="status" aria-live="polite">
        {said?.text ?? ''}
      </p>
      {said !== undefined && (
        <button type="button" class="quiet" onClick={() => announcement.set(undefined)} aria-label="Hide this message">
          ✕
        </button>
      )}
    </div>
  );
}
