import type { ComponentType } from 'preact';
import type { Role } from '../http/identity/principal.ts';
import { matchPath, requestPattern, type PathParams, type ViewProps } from './state/paths.ts';
import { DecidedView } from './views/decided.tsx';
import { DeskView } from './views/desk.tsx';
import { RunsView } from './views/runs.tsx';
import { useEffect, useState } from 'preact/hooks';
import { hrefOf } from './state/location.ts';

interface Route {
  /** The path below `/inbox`, in which `:name` matches one segment. */
  pattern: string;
  title: string;
  view: ComponentType<ViewProps>;
  /** The name under which the header links to the view. Absent: the header does not link to it. */
  link?: string;
  /** The pattern of another view. While this view is shown, the header marks the link to the other one. */
  section?: string;
  /** The header shows the link only to people with this role. */
  role?: Role;
}

const RunPage = lazyView(async () => (await import('./views/run.tsx')).RunPage);
const StartRunView = lazyView(async () => (await import('./views/start-run.tsx')).StartRunView);
const OperatorView = lazyView(async () => (await import('./views/operator.tsx')).OperatorView);

export const routes: readonly Route[] = [
  { pattern: '/', title: 'Inbox', view: DeskView, link: 'Inbox' },
  { pattern: requestPattern, title: 'Request', view: DeskView, section: '/' },
  { pattern: '/decided', title: 'Decided requests', view: DecidedView, section: '/' },
  { pattern: '/runs', title: 'Runs', view: RunsView, link: 'Runs' },
  { pattern: '/runs/:workflowId', title: 'Run', view: RunPage, section: '/runs' },
  { pattern: '/start', title: 'Start a run', view: StartRunView, section: '/runs' },
  { pattern: '/operator', title: 'Policy and statistics', view: OperatorView, link: 'Policy', role: 'operator' },
];

const notFound: Route = { pattern: '', title: 'Not found', view: NotFoundView };

export function findRoute(path: string): { route: Route; params: PathParams } {
  for (const route of routes) {
    const params = matchPath(route.pattern, path);
    if (params !== undefined) return { route, params };
  }
  return { route: notFound, params: {} };
}

/** The pause before the page is loaded again because a file is missing, as in public/reload.js. */
const pauseMs = 2_000;

/** A view whose file is loaded only when the view is shown first, so that other views load faster. */
export function lazyView(load: () => Promise<ComponentType<ViewProps>>): ComponentType<ViewProps> {
  let loaded: ComponentType<ViewProps> | undefined;
  return function LazyView(props) {
    // `useState` calls a function that it gets. A component is a function, so another function around it returns it.
    const [, setLoaded] = useState(() => loaded);
    useEffect(() => {
      if (loaded !== undefined) return;
      load().then(
        (view) => {
          loaded = view;
          setLoaded(() => view);
        },
        () => setTimeout(() => location.reload(), pauseMs),
      );
    }, []);
    const View = loaded;
    return View === undefined ? <p class="soft">Loading …</p> : <View {...props} />;
  };
}

export function NotFoundView() {
  return (
    <section class="narrow">
      <h1>Page not found</h1>
      <p>
        <a href={hrefOf('/')}>Go to the inbox</a>
      </p>
    </section>
  );
}
