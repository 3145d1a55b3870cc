import type { ComponentChildren } from 'preact';
import { answerLabels, argumentsNote, headings, type Card, type CardRow } from 'countersign/card';
import { LocalTime } from '../parts/local-time.tsx';
import { LongText, Marked, ShownText } from '../parts/shown-text.tsx';
import { CardChanges } from './card-changes.tsx';
import { CardFields } from './card-fields.tsx';

/** Who settled a request, when and why stands in the place of its answers. */
const effects = ['Answer', 'What ran'];
/** Rows for programs: they stand beside the raw call. */
const ids = ['Request', 'Digest'];

/** The card of a request. Its texts are from elsewhere; its labels and headings are ours. */
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
