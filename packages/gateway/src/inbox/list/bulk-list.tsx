import { CardChanges } from '../request/card-changes.tsx';
import { CardFields } from '../request/card-fields.tsx';
import { Foreign, Marked } from '../parts/shown-text.tsx';
import { requestHref } from '../state/location.ts';
import { requestKey } from '../state/request-key.ts';
import type { BulkItem } from './bulk-set.ts';
import { RowSentence } from './row-sentence.tsx';

const longest = 200;

/** The requests that are answered together, each with all that its call would do if that was read. */
export function BulkList({ items }: { items: readonly BulkItem[] }) {
  return (
    <ol class="frozen" aria-label="Answered together" tabIndex={0}>
      {items.map(({ row, view }) => (
        <li key={requestKey(row)}>
          <p class="frozen-title">
            <span>
              <RowSentence row={row} most={longest} />
            </span>
            <span class={`severity ${row.severity}`}>{row.severity}</span>
          </p>
          {view !== undefined && (
            <>
              {view.card.warnings.map((warning) => (
                <p key={warning} class="cut small">
                  <Marked text={warning} />
                </p>
              ))}
              <CardFields fields={view.card.arguments} />
              {view.card.preview !== undefined && <CardChanges card={view.card} />}
            </>
          )}
        </li>
      ))}
    </ol>
  );
}

/** The selected requests that are not answered, with the reason and a link. */
export function LeftOutItems({ items }: { items: readonly BulkItem[] }) {
  if (items.length === 0) return null;
  return (
    <section class="note left-out" aria-label="Left out">
      <p>
        <strong>{items.length === 1 ? 'One request is' : `${items.length} requests are`} left out.</strong> Open each to
        answer it.
      </p>
      <ul>
        {items.map(({ row, leftOut }) => (
          <li key={requestKey(row)}>
            <a href={requestHref(row)} target="_blank" rel="noreferrer">
              <RowSentence row={row} most={longest} />
            </a>
            : <Foreign text={leftOut ?? ''} most={longest} />
          </li>
        ))}
      </ul>
    </section>
  );
}
