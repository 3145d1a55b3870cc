import { type ArgumentBlock, type CardField, fieldLabel, fieldNote, saysName } from 'countersign/card';
import { Row } from '../parts/tables.tsx';
import { LongText, Marked, Scrolling, ShownText } from '../parts/shown-text.tsx';
import { CardTable } from './more-lines.tsx';

export function ArgumentBlocks({ blocks }: { blocks: readonly ArgumentBlock[] }) {
  if (blocks.length === 0) return null;
  return (
    <dl>
      {blocks.map((block, index) => (
        <Block key={index} block={block} />
      ))}
    </dl>
  );
}

function Block({ block }: { block: ArgumentBlock }) {
  switch (block.kind) {
    case 'field':
      return <FieldRow label={fieldLabel({ ...block.field, name: block.name })} field={block.field} hasWarnings />;
    case 'group':
      return (
        <Row class="nested" label={<Marked text={block.name} />}>
          <ArgumentBlocks blocks={block.blocks} />
        </Row>
      );
    case 'list':
      return (
        <Row label={<Marked text={block.name} />}>
          <ol class="values" start={0}>
            {block.fields.map((field, index) => (
              <li key={index}>
                <FieldValue field={field} hasWarnings />
              </li>
            ))}
          </ol>
        </Row>
      );
    case 'table':
      return (
        <Row class="wide" label={<Marked text={block.name} />}>
          <ArgumentTable {...block} />
        </Row>
      );
  }
}

/** A list of objects as a table, with a column for each member. `none`: the object of a row lacks the member. */
function ArgumentTable({ name, columns, rows }: ArgumentBlock & { kind: 'table' }) {
  return (
    <CardTable
      label={`Table of ${name}`}
      head={
        <>
          <td />
          {columns.map((column, index) => (
            <th key={column.name} scope="col" class={rows[0]?.cells[index]?.format}>
              <Marked text={saysName(column.title, column.name) ? column.name : (column.title ?? '')} />
              <Hint text={column.description} />
            </th>
          ))}
        </>
      }
      rows={rows}
      draw={({ index, cells }) => (
        <tr key={index}>
          <th scope="row">{index}</th>
          {cells.map((cell, column) => (
            <td key={column} class={cell?.format}>
              {cell === undefined ? <span class="soft">none</span> : <FieldValue field={cell} hasWarnings />}
            </td>
          ))}
        </tr>
      )}
    />
  );
}

interface FieldProps {
  field: CardField;
  hasWarnings?: boolean;
}

export function FieldRow({ label, ...field }: FieldProps & { label: string }) {
  return (
    <div>
      <dt>
        <Marked text={label} />
        <Hint text={field.field.description} />
      </dt>
      <dd>
        <FieldValue {...field} />
      </dd>
    </div>
  );
}

function FieldValue({ field, hasWarnings = false }: FieldProps) {
  const { format, reading, warnings = [] } = field;
  // The reading of an amount of money comes before the value; any other reading follows the value as a hint.
  const isReadFirst = format === 'money' && reading !== undefined;
  return (
    <>
      {isReadFirst && (
        <b class="reading">
          <Marked text={reading} />
        </b>
      )}
      <Value field={field} />
      {!isReadFirst && <Hint text={fieldNote(field)} />}
      {hasWarnings &&
        warnings.map((warning) => (
          <span key={warning} class="beside-warning">
            <Marked text={warning} />
          </span>
        ))}
    </>
  );
}

function Hint({ text = '' }: { text?: string | undefined }) {
  if (text === '') return null;
  return (
    <span class="hint">
      <Marked text={text} />
    </span>
  );
}

const longestInline = 2_000;

function isBlock({ text }: CardField['value']): boolean {
  return text.includes('\n') || text.length > longestInline;
}

/** The value of a field. A long text has its own scroll bar, and is drawn in steps unless its middle is hidden. */
function Value({ field: { name, value, format } }: { field: CardField }) {
  if (isBlock(value) && value.hidden === undefined) return <LongText text={value.text} label={name} />;
  if (isBlock(value)) {
    return (
      <Scrolling label={name}>
        <ShownText text={value} />
      </Scrolling>
    );
  }
  return (
    <span class={`value ${format}`}>
      <ShownText text={value} />
    </span>
  );
}
