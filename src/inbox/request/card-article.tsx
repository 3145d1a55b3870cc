import type { ComponentChildren } from 'preact';
import type { Card, CardField, CardRow } from '../../core/card/card.ts';
import { answerLabels, argumentsNote, fieldLabel, fieldNote, headings } from '../../core/card/card-words.ts';
import { LongText, Marked, ShownText } from '../parts/shown-text.tsx';
import { CardChanges } from './card-changes.tsx';

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
        <Fields fields={card.arguments} />
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
      <Rows title={headings.who} rows={who} />
      {words !== undefined && (
        <Section title={headings.words}>
          <blockquote>
            <ShownText text={words} />
          </blockquote>
        </Section>
      )}
      <Rows title={headings.settled} rows={settled} />
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

function Fields({ fields }: { fields: readonly CardField[] }) {
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

/** A longer text is a block of its own, drawn in steps. */
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

function Rows({ title, rows }: { title: string; rows: readonly CardRow[] }) {
  if (rows.length === 0) return null;
  return (
    <Section title={title}>
      <dl>
        {rows.map(({ label, texts }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              {texts.map((text, index) => (
                <p key={index}>
                  <ShownText text={text} />
                </p>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
