import type { Json } from 'countersign/base';
import type { ChangedValue } from '../form/changed-values.ts';
import { Foreign } from '../parts/shown-text.tsx';

/** The difference that an edit makes, value by value. */
export function Changes({ changes, isReadable }: { changes: readonly ChangedValue[]; isReadable: boolean }) {
  if (!isReadable) return <p class="soft">Correct what is marked first.</p>;
  if (changes.length === 0) return <p class="soft">Nothing so far.</p>;
  return (
    <dl class="changes" aria-live="polite">
      {changes.map(({ place, before, after }) => (
        <div key={place}>
          <dt>
            <Foreign text={place} most={300} />
          </dt>
          <dd>
            {before !== undefined && (
              <del>
                <Foreign text={written(before)} most={500} lines />
              </del>
            )}{' '}
            {after !== undefined && (
              <ins>
                <Foreign text={written(after)} most={500} lines />
              </ins>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function written(value: Json): string {
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
}
