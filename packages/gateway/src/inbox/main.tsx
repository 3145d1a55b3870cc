import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { followSession, meOf, session } from './state/me.ts';
import { followClicks, currentLocation } from './state/location.ts';
import { requestKey, requestParams } from './state/paths.ts';
import { DeskView } from './views/desk.tsx';
import { Announcer, Header, PageTitle } from './parts/header.tsx';
import { SignIn } from './parts/sign-in.tsx';
import { DecisionBar } from './request/decision-bar.tsx';
import { Overlay } from './palette/overlay.tsx';
import { findRoute } from './routes.tsx';
import { notifyOfRequests } from './state/notifications.ts';
import { followOpenRequests } from './state/open-requests.ts';
import { loadPush } from './state/push.ts';
import { useStore } from './state/store.ts';

followClicks();
followSession();
const place = document.getElementById('app')!;
place.replaceChildren();
render(<App />, place);

/** The page: a header, notices, and the view of the address. It follows the open requests while a user is signed in. */
function App() {
  const { path } = useStore(currentLocation);
  const signedIn = useStore(session);
  const { state } = signedIn;
  const { route, params } = findRoute(path);
  useFocusOf(path);
  const me = meOf(signedIn);
  const sessionKey = me?.sessionKey;
  useEffect(() => (sessionKey === undefined ? undefined : followOpenRequests(sessionKey)), [sessionKey]);
  useEffect(() => (state === 'signed-in' ? notifyOfRequests() : undefined), [state]);
  useEffect(() => {
    if (me !== undefined) void loadPush(me).catch(() => undefined);
  }, [me]);
  // `DeskView` has the same key for all its paths, so the list keeps its state when the user opens a request.
  const View = route.view;
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Header />
      <div class="notices">
        <DecisionBar />
        <Announcer />
      </div>
      <main id="main" tabIndex={-1}>
        {signedIn.state === 'signed-out' ? (
          <SignIn loginUrl={signedIn.loginUrl} />
        ) : (
          <View key={View === DeskView ? '' : path} params={params} />
        )}
      </main>
      <Overlay />
      <PageTitle title={route.title} />
    </>
  );
}

/** Moves the focus after a change of the path: to the row of the last request on the list, else to the view. */
function useFocusOf(path: string): void {
  const before = useRef<string>(undefined);
  useEffect(() => {
    const left = requestParams(before.current ?? '');
    before.current = path;
    const rows = [...document.querySelectorAll<HTMLElement>('.requests [data-request]')];
    const isLeft = ({ dataset }: HTMLElement): boolean => left !== undefined && dataset['request'] === requestKey(left);
    const row = path === '/' ? rows.find(isLeft)?.querySelector<HTMLElement>('.open') : undefined;
    if (row == null) window.scrollTo(0, 0);
    else row.scrollIntoView({ block: 'center' });
    const viewSelector = path === '/' ? 'main' : '.request-pane, main:not(:has(.request-pane))';
    const view = document.querySelector<HTMLElement>(viewSelector);
    (row ?? view)?.focus({ preventScroll: true });
  }, [path]);
}
