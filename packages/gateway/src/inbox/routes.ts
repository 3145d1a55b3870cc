import type { ComponentType } from 'preact';
import type { Role } from '../http/identity/principal.ts';
import { matchPath, type PathParams, requestPattern, type ViewProps } from './state/paths.ts';
import { lazyView } from './parts/lazy-view.tsx';
import { DecidedView } from './views/decided.tsx';
import { DeskView } from './views/desk.tsx';
import { NotFoundView } from './views/not-found.tsx';
import { RunsView } from './views/runs.tsx';

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
