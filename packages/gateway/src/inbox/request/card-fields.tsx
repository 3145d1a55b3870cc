import { fieldLabel, fieldNote, type CardField } from 'countersign/card';
import { LongText, Marked, ShownText } from '../parts/shown-text.tsx';

/** The arguments of a call, each with what it means. */
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
