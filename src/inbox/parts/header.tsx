import { openOverlay } from '../palette/overlays.ts';
import { routes } from '../routes.ts';
import { currentLocation, hrefOf } from '../state/location.ts';
import { meOf, session } from '../state/me.ts';
import { useStore } from '../state/store.ts';
import { SignOut } from './sign-out.tsx';

/** The head of every view. */
export function Header() {
  const { path } = useStore(currentLocation);
  const me = meOf(useStore(session));
  return (
    <header class="top">
      <a class="brand" href={hrefOf('/')}>
        <img src={hrefOf('/icon.svg')} alt="" width="24" height="24" />
        Countersign
      </a>
      <nav aria-label="Views">
        {routes.map(
          ({ link, pattern, role }) =>
            link !== undefined &&
            (role === undefined || me?.roles.includes(role)) && (
              <a key={pattern} href={hrefOf(pattern)} aria-current={path === pattern ? 'page' : undefined}>
                {link}
              </a>
            ),
        )}
      </nav>
      <button type="button" class="quiet" aria-haspopup="dialog" onClick={() => openOverlay.set('palette')}>
        Find <kbd class="wide-only">Ctrl K</kbd>
      </button>
      {me !== undefined && (
        <p class="me">
          <bdi>{me.id}</bdi> {me.via === 'session' && <SignOut />}
        </p>
      )}
    </header>
  );
}
