import { queryText, type RequestIds, requestParams } from './paths.ts';
import { createStore } from './store.ts';

const base = '/inbox';

export interface PageLocation {
  path: string;
  query: string;
}

export const currentLocation = createStore<PageLocation>(readLocation());

export function hrefOf(path: string): string {
  return `${base}${path}`;
}

export function requestHref({ workflowId, requestId }: RequestIds): string {
  return hrefOf(`/requests/${encodeURIComponent(workflowId)}/${encodeURIComponent(requestId)}`);
}

/** The address of the list, or of a request. It keeps the filters, so that "Next request" stays in the same list. */
export function inListHref(ids?: RequestIds, more: Record<string, string> = {}): string {
  const { path, query } = currentLocation.get();
  const isDesk = path === '/' || requestParams(path) !== undefined;
  const kept = new URLSearchParams(isDesk ? query : '');
  // This parameter prepares an answer to the request of the present address, not to the next one.
  kept.delete('answer');
  for (const [name, value] of Object.entries(more)) kept.set(name, value);
  return `${ids === undefined ? hrefOf('/') : requestHref(ids)}${queryText(kept)}`;
}

export function runHref(workflowId: string): string {
  return hrefOf(`/runs/${encodeURIComponent(workflowId)}`);
}

/** Goes to an address of `hrefOf`. `replace`: it replaces the present entry in the browser's history. */
export function navigate(href: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  currentLocation.set(readLocation());
}

/** Lets links and the browser's Back button change the view without loading the page again. */
export function followClicks(): void {
  window.addEventListener('popstate', () => currentLocation.set(readLocation()));
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || link.target !== '' || link.origin !== location.origin) return;
    if (link.getAttribute('href')?.startsWith('#') || !link.pathname.startsWith(`${base}/`)) return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  });
}

function readLocation(): PageLocation {
  return { path: location.pathname.slice(base.length) || '/', query: location.search };
}
