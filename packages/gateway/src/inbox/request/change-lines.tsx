import { useMemo, useState } from 'preact/hooks';
import { type CardChange, diffMarks } from 'countersign/card';
import { Marked, Scrolling, ShownText } from '../parts/shown-text.tsx';
import { type DrawnLine, drawnLines } from './diff-lines.ts';
import { CardTable, MoreLines, mostLines } from './more-lines.tsx';

export function ChangeLines({ change }: { change: CardChange & { kind: 'text' } }) {
  const [shown, setShown] = useState(mostLines);
  const lines = useMemo(() => drawnLines(change), [change]);
  return (
    <>
      <Scrolling class="diff" label={`Changes of ${change.name}`}>
        {lines.slice(0, shown).map((line, index) => (
          <Line key={index} {...line} />
        ))}
      </Scrolling>
      <MoreLines all={lines.length} shown={shown} show={setShown} />
    </>
  );
}

/** A line of a diff with its number in both texts. Of a replaced line, only the words that differ are marked. */
function Line({ kind, text, before, after, words }: DrawnLine) {
  return (
    <span class={`line ${kind}`}>
      <span class="number">{before}</span>
      <span class="number">{after}</span>
      <span class="sign">{diffMarks[kind]}</span>
      <span class="content">
        {words === undefined ? (
          <ShownText text={text} />
        ) : (
          <>
            <Marked text={words[0]} />
            {words[1] !== '' && (
              <b class="word">
                <Marked text={words[1]} />
              </b>
            )}
            <Marked text={words[2]} />
          </>
        )}
      </span>
    </span>
  );
}

export function ChangeTable({ change: { columns, rows } }: { change: CardChange & { kind: 'table' } }) {
  return (
    <CardTable
      label="Table of changes"
      head={columns.map((column, index) => (
        <th key={index} scope="col">
          <Marked text={column} />
        </th>
      ))}
      rows={rows}
      draw={({ kind, cells }, index) => (
        <tr key={index}>
          {cells.map((cell, column) => (
            <td key={column}>
              <Cell kind={kind} {...cell} />
            </td>
          ))}
        </tr>
      )}
    />
  );
}

/** A cell of a changed table: the old value is struck out, and the new one marked. An unchanged value has no mark. */
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
