import { useState } from 'preact/hooks';
import { changeRest, changeTitle, diffMarks, previewNote, type Card, type CardChange } from 'countersign/card';
import { Marked, ShownText } from '../parts/shown-text.tsx';

/** The changes that a call would make, as differences and tables. */
export function CardChanges({ card }: { card: Card }) {
  const note = previewNote(card);
  if (note !== undefined) {
    return (
      <>
        <p>{note.text}</p>
        {note.message !== undefined && (
          <pre tabIndex={0}>
            <Marked text={note.message} />
          </pre>
        )}
      </>
    );
  }
  if (card.preview?.state !== 'ready') return null;
  return (
    <>
      {card.preview.changes.map((change, index) => (
        <div key={index} class="change">
          <p>
            <Marked text={changeTitle(change)} />
          </p>
          {change.kind === 'table' ? <Table change={change} /> : <Lines change={change} />}
          {changeRest(change) !== '' && <p class="cut">… {changeRest(change)}</p>}
        </div>
      ))}
    </>
  );
}

/** More lines or rows are drawn when they are asked for. */
const mostLines = 500;

function Lines({ change: { lines } }: { change: CardChange & { kind: 'text' } }) {
  const [shown, setShown] = useState(mostLines);
  return (
    <>
      <pre class="diff" tabIndex={0}>
        {lines.slice(0, shown).map(({ kind, text }, index) => (
          <span key={index} class={kind}>
            {diffMarks[kind]}
            <ShownText text={text} />
          </span>
        ))}
      </pre>
      <MoreLines all={lines.length} shown={shown} show={setShown} />
    </>
  );
}

function Table({ change: { columns, rows } }: { change: CardChange & { kind: 'table' } }) {
  const [shown, setShown] = useState(mostLines);
  return (
    <>
      <div class="table" tabIndex={0} role="group" aria-label="Table of changes">
        <table>
          <thead>
            <tr>
              {columns.map((column, index) => (
                <th key={index} scope="col">
                  <Marked text={column} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, shown).map(({ kind, cells }, index) => (
              <tr key={index}>
                {cells.map((cell, column) => (
                  <td key={column}>
                    <Cell kind={kind} {...cell} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <MoreLines all={rows.length} shown={shown} show={setShown} />
    </>
  );
}

function Cell({ kind, before, after }: { kind: string; before: string | null; after: string | null }) {
  const was = <Marked text={before ?? 'nothing'} />;
  const is = <Marked text={after ?? 'nothing'} />;
  if (kind === 'removed') return <del>{before === null ? '' : was}</del>;
  if (kind === 'added') return <ins>{after === null ? '' : is}</ins>;
  if (before === after) return after === null ? null : is;
  return (
    <>
      <del>{was}</del> → <ins>{is}</ins>
    </>
  );
}

function MoreLines({ all, shown, show }: { all: number; shown: number; show: (count: number) => void }) {
  if (all <= shown) return null;
  return (
    <button type="button" onClick={() => show(shown + mostLines * 4)}>
      Show more ({(all - shown).toLocaleString('en')} left)
    </button>
  );
}
