import { useEffect, useState } from 'preact/hooks';
import { requestParams } from '../state/paths.ts';
import { currentLocation } from '../state/location.ts';
import { useStore } from '../state/store.ts';
import { InboxView } from './inbox.tsx';
import { RequestPage } from './request.tsx';

const listBesideRequest = '(min-width: 88rem)';

/** The list of open requests, and one request: both on a wide screen, else only one of the two. */
export function DeskView() {
  const { path } = useStore(currentLocation);
  const isWide = useMedia(listBesideRequest);
  const params = requestParams(path);
  const request = params && <RequestPage key={path} params={params} />;
  if (!isWide) return request ?? <InboxView />;
  return (
    <div class="desk">
      <section class="list-pane" aria-label="Open requests">
        <InboxView />
      </section>
      <section class="request-pane" aria-label="Request" tabIndex={-1}>
        {request ?? <p class="note empty">Choose a request on the left.</p>}
      </section>
    </div>
  );
}

function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const follow = (): void => setMatches(media.matches);
    media.addEventListener('change', follow);
    return () => media.removeEventListener('change', follow);
  }, [query]);
  return matches;
}
