import type { ComponentChildren } from 'preact';
import {
  answerLabels,
  argumentsNote,
  headings,
  type Card,
  type CardRow,
  fieldLabel,
  fieldNote,
  type CardField,
  changeRest,
  changeTitle,
  diffMarks,
  previewNote,
  type CardChange,
} from 'countersign/card';
import { LocalTime } from '../parts/time.tsx';
import { LongText, Marked, ShownText } from '../parts/shown-text.tsx';
import { useState } from 'preact/hooks';

/** The settlement of a request replaces its answers. */
const effects = ['Answer', 'What ran'];
/** Rows for programs: shown beside the raw call. */
const ids = ['Request', 'Digest'];

/** The card of a request. Its texts are untrusted; its labels and headings are trusted. */
export function CardArticle({ card, unfold }: { card: Card; unfold: ComponentChildren }) {
  const { sentence, warnings, notShown, why, who, words, settled = [], raw } = card;
  return (
    <article class="card">
      <h1 id="sentence">
        <ShownText text={sentence} />
      </h1>
      {sentence.by === 'tool' && <p class="soft small">The tool's own sentence.</p>}
      {warnings.length > 0 && (
        <ul class="warnings" aria-label="Warnings">
          {warnings.map((warning) => (
            <li key={warning}>
              <Marked text={warning} />
            </li>
          ))}
        </ul>
      )}
      {unfold}
      <Section title={headings.arguments}>
        <CardFields fields={card.arguments} />
        {argumentsNote(card) !== '' && <p class="soft">{argumentsNote(card)}</p>}
        {notShown.length > 0 && (
          <p class="cut">
            {headings.notShown}: <Marked text={notShown.join(', ')} />
          </p>
        )}
      </Section>
      {card.preview !== undefined && (
        <Section title={headings.changes}>
          <CardChanges card={card} />
        </Section>
      )}
      <Rows title={headings.why} rows={why} />
      <Rows title={headings.who} rows={who.filter(({ label }) => !ids.includes(label))} />
      {words !== undefined && (
        <Section title={headings.words}>
          <blockquote>
            <ShownText text={words} />
          </blockquote>
        </Section>
      )}
      <Rows title={headings.settled} rows={settled.filter(({ label }) => effects.includes(label))} />
      {card.answers.length > 0 && (
        <details>
          <summary>{headings.answers}</summary>
          <dl>
            {card.answers.map(({ name, effect }) => (
              <div key={name}>
                <dt>{answerLabels[name]}</dt>
                <dd>
                  <Marked text={effect} />
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
      {raw !== '' && (
        <details>
          <summary>{headings.raw}</summary>
          <RowList rows={who.filter(({ label }) => ids.includes(label))} />
          <LongText text={raw} />
        </details>
      )}
    </article>
  );
}

function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Rows({ title, rows }: { title: string; rows: readonly CardRow[] }) {
  if (rows.length === 0) return null;
  return (
    <Section title={title}>
      <RowList rows={rows} />
    </Section>
  );
}

function RowList({ rows }: { rows: readonly CardRow[] }) {
  return (
    <dl>
      {rows.map(({ label, texts }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            {texts.map((text, index) => (
              <p key={index}>
                <ShownText text={text} />
                {text.at !== undefined && text.text !== '' && ', '}
                {text.at !== undefined && <LocalTime at={text.at} />}
              </p>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The arguments of a call, each with its meaning. */
export function CardFields({ fields }: { fields: readonly CardField[] }) {
  if (fields.length === 0) return null;
  return (
    <dl>
      {fields.map((field, index) => (
        <div key={index}>
          <dt>
            <Marked text={fieldLabel(field)} />
            {field.description !== undefined && (
              <span class="hint">
                <Marked text={field.description} />
              </span>
            )}
          </dt>
          <dd>
            <FieldValue field={field} />
            {fieldNote(field) !== '' && (
              <span class="hint">
                <Marked text={fieldNote(field)} />
              </span>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A longer text gets a separate block, drawn in steps. */
const longestInline = 2_000;

function FieldValue({ field: { value, format } }: { field: CardField }) {
  const isBlock = value.text.includes('\n') || value.text.length > longestInline;
  if (isBlock && value.hidden === undefined) return <LongText text={value.text} />;
  if (isBlock) {
    return (
      <pre tabIndex={0}>
        <ShownText text={value} />
      </pre>
    );
  }
  return (
    <span class={`value ${format}`}>
      <ShownText text={value} />
    </span>
  );
}

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

/** Further lines or rows are drawn on demand. */
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
