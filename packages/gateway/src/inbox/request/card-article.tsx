import type { ComponentChildren } from 'preact';
import { visibleText } from 'countersign/base';
import type { Card, CardRow, CardField } from 'countersign/card';
import {
  answerLabels,
  argumentBlocks,
  argumentsNote,
  headings,
  changeRest,
  changeTitle,
  previewNote,
} from 'countersign/card';
import { Row } from '../parts/tables.tsx';
import { LocalTime } from '../parts/time.tsx';
import { LongText, Marked, Scrolling, ShownText } from '../parts/shown-text.tsx';
import { ArgumentBlocks } from './argument-rows.tsx';
import { ChangeLines, ChangeTable } from './change-lines.tsx';

/** The labels of the rows that are shown in the section about the settlement. */
const effects = ['Answer', 'What ran'];
/** The labels of rows that change how a reviewer reads the call. The brief above the arguments shows them. */
const urgent = ['Denied before', 'The user has written since', 'Changed since it was approved'];

export function isUrgentRow({ label }: CardRow): boolean {
  return urgent.includes(label);
}

interface CardArticleProps {
  card: Card;
  warning?: string | undefined;
  unfold: ComponentChildren;
  brief: ComponentChildren;
}

/** The card of a request. Its labels and headings are trusted; all its other texts are not. */
export function CardArticle({ card, warning, unfold, brief }: CardArticleProps) {
  const { notShown, why, settled = [] } = card;
  return (
    <article class="card">
      <h1 id="sentence">
        <Sentence {...card.sentence} />
      </h1>
      <CardWarnings card={card} first={warning} />
      {unfold}
      {brief}
      <Section title={headings.arguments}>
        <ArgumentBlocks blocks={argumentBlocks(card.arguments)} />
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
      <Rows title="Risks and advice" rows={why.filter((row) => !isUrgentRow(row) && row.label !== 'Replaces')} />
      <Rows title={headings.settled} rows={settled.filter(({ label }) => effects.includes(label))} />
      <Details card={card} />
    </article>
  );
}

/** Lists the warnings of a card, after the warning `first`. If an argument shows its own, the list only names it. */
export function CardWarnings({ card, first }: { card: Card; first?: string | undefined }) {
  const misleading = card.arguments.filter(({ warnings = [] }) => warnings.length > 0);
  const shownBelow = new Set(misleading.flatMap(({ warnings = [] }) => warnings));
  const others = card.warnings.filter((each) => !shownBelow.has(each));
  const warnings = first === undefined ? others : [visibleText(first), ...others];
  if (warnings.length + misleading.length === 0) return null;
  return (
    <ul class="warnings" aria-label="Warnings">
      {warnings.map((warning) => (
        <li key={warning}>
          <Marked text={warning} />
        </li>
      ))}
      {misleading.length > 0 && (
        <li>
          Text that may mislead, explained below: <Marked text={namesOf(misleading)} />
        </li>
      )}
    </ul>
  );
}

const mostNames = 3;
function namesOf(fields: readonly CardField[]): string {
  const names = fields.slice(0, mostNames).map(({ name }) => name);
  return [...names, ...(fields.length > mostNames ? [`${fields.length - mostNames} more`] : [])].join(', ');
}

/** The sentence about the call. If it was built from the arguments, it has parts, and the values are in bold. */
function Sentence({ parts, ...sentence }: Card['sentence']) {
  if (parts === undefined) return <ShownText text={sentence} />;
  return (
    <>
      {parts.map(({ kind, text }, index) => (
        <span key={index} class={`part part-${kind}`}>
          {separator(kind, index)}
          <Marked text={text} />
        </span>
      ))}
    </>
  );
}

function separator(kind: string, index: number): string {
  if (index === 0) return kind === 'value' ? ' ' : '';
  if (index === 1) return ': ';
  return kind === 'value' ? ' ' : ', ';
}

/** The folded end of the card: facts about the call, what it replaces, what each answer does, and the call as JSON. */
function Details({ card: { who, why, answers, raw } }: { card: Card }) {
  return (
    <details class="details">
      <summary>Details</summary>
      <RowList rows={[...who, ...why.filter(({ label }) => label === 'Replaces')]} />
      {answers.length > 0 && (
        <>
          <h3>{headings.answers}</h3>
          <RowList
            rows={answers.map(({ name, effect }) => ({ label: answerLabels[name], texts: [{ text: effect }] }))}
          />
        </>
      )}
      {raw !== '' && (
        <>
          <h3>{headings.raw}</h3>
          <LongText text={raw} label={headings.raw} />
        </>
      )}
    </details>
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
      {rows.map((row) => (
        <Row key={row.label} label={row.label}>
          <RowTexts row={row} />
        </Row>
      ))}
    </dl>
  );
}

export function RowTexts({ row: { texts } }: { row: CardRow }) {
  return (
    <>
      {texts.map((text, index) => (
        <p key={index}>
          <ShownText text={text} />
          {text.at !== undefined && text.text !== '' && ', '}
          {text.at !== undefined && <LocalTime at={text.at} />}
        </p>
      ))}
    </>
  );
}

/** What the call would change, by the preview of the tool; else a note that says why there is nothing to show. */
export function CardChanges({ card }: { card: Card }) {
  const note = previewNote(card);
  if (note !== undefined) {
    return (
      <>
        <p>{note.text}</p>
        {note.message !== undefined && (
          <Scrolling label="Message of the tool">
            <Marked text={note.message} />
          </Scrolling>
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
          {change.kind === 'table' ? <ChangeTable change={change} /> : <ChangeLines change={change} />}
          {changeRest(change) !== '' && <p class="cut">… {changeRest(change)}</p>}
        </div>
      ))}
    </>
  );
}
