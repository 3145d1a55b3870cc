import { useEffect } from 'preact/hooks';
import { openRequests } from '../state/open-requests.ts';
import { useStore } from '../state/store.ts';

/** The title of the page, with the number of open requests: tabs show it. */
export function PageTitle({ title }: { title: string }) {
  const { open } = useStore(openRequests);
  const count = open === undefined ? 0 : open.rows.length + open.more;
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ''}${title} · Countersign`;
  }, [title, count]);
  return null;
}
