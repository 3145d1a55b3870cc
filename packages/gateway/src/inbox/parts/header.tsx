import { visibleText } from 'countersign/base';
import { openOverlay } from '../state/shortcuts.ts';
import { findRoute, routes } from '../routes.tsx';
import { currentLocation, hrefOf } from '../state/location.ts';
import { meOf, session } from '../state/me.ts';
import { useStore, announcement, viewTitle } from '../state/store.ts';
import { Icon } from './shown-text.tsx';
import { SignOut } from './sign-in.tsx';
import { useEffect } from 'preact/hooks';
import { openRequests } from '../state/open-requests.ts';
import { Button } from './controls.tsx';

export function Header() {
  const { path } = useStore(currentLocation);
  const me = meOf(useStore(session));
  const { section } = findRoute(path).route;
  return (
    <header class="top">
      <a class="brand" aria-label="Countersign" href={hrefOf('/')}>
        <img src={hrefOf('/icon.svg')} alt="" width="24" height="24" />
        <span class="hidden-on-phone">Countersign</span>
      </a>
      <nav aria-label="Views">
        {routes.map(
          ({ link, pattern, role }) =>
            link !== undefined &&
            (role === undefined || me?.roles.includes(role)) && (
              <a
                key={pattern}
                href={hrefOf(pattern)}
                aria-current={path === pattern ? 'page' : section === pattern ? 'true' : undefined}
              >
                {link}
              </a>
            ),
        )}
      </nav>
      <div class="tools">
        <Button class="quiet" aria-haspopup="dialog" onClick={() => openOverlay.set('palette')}>
          <Icon name="search" /> <span class="hidden-on-phone">Find</span> <kbd class="wide-only">Ctrl K</kbd>
        </Button>
        {me !== undefined && (
          <>
            <Button class="quiet" aria-haspopup="dialog" onClick={() => openOverlay.set('settings')}>
              <Icon name="person" /> <span class="hidden-on-phone">{visibleText(me.name ?? me.id)}</span>
              <span class="visually-hidden">, settings and notifications</span>
            </Button>
            {me.via === 'session' && (
              <span class="wide-only">
                <SignOut />
              </span>
            )}
          </>
        )}
      </div>
    </header>
  );
}

/** Sets the title of the browser's tab: the number of open requests, and the title of the view. */
export function PageTitle({ title }: { title: string }) {
  const { open } = useStore(openRequests);
  const shown = useStore(viewTitle) ?? title;
  const count = open === undefined ? 0 : open.rows.length + open.more;
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ''}${shown} · Countersign`;
  }, [shown, count]);
  return null;
}

export function Announcer() {
  const shown = useStore(announcement);
  return (
    <div class={`announcer ${shown?.tone ?? 'plain'}`}>
      <p role="status" aria-live="polite">
        {shown?.text ?? ''}
      </p>
      {shown !== undefined && (
        <Button class="quiet" onClick={() => announcement.set(undefined)} aria-label="Hide this message">
          ✕
        </Button>
      )}
    </div>
  );
}
