import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { visibleJsonText, visibleText, type JsonObject } from 'countersign/base';
import { jsonPlace } from 'countersign/json';
import { saysName, schemaText } from 'countersign/card';
import { Foreign } from '../parts/shown-text.tsx';
import { type FormNode, nextItem, nextMember, typeOf } from './form-node.ts';
import { type FormProblems, formRoot } from './read-form.ts';
import { Button, wrongIf } from '../parts/controls.tsx';

/** `path`: the place of the node. `root`: the schema of all arguments. `problems`: the sentences by place. */
interface NodeProps {
  node: FormNode;
  path: readonly (string | number)[];
  root: JsonObject;
  problems: FormProblems;
  change: (node: FormNode) => void;
}

type TextNode = FormNode & { kind: 'text' | 'number' | 'json' };

const longestLine = 80;

/** The fields for the parts of an object or a list; empty for any other node. `change` gets the node with an edit. */
export function SchemaForm({ node, path, root, problems, change }: NodeProps) {
  const inner = { root, problems };
  if (node.kind === 'object') {
    const set = (index: number, member: FormNode | undefined): void =>
      change({ ...node, members: node.members.map((each, at) => (at === index ? { ...each, node: member } : each)) });
    return (
      <>
        {node.members.map(({ name, node: member, isRequired }, index) =>
          member === undefined ? (
            <p key={name} class="absent">
              <Button class="more" onClick={() => set(index, nextMember(node, name, root))}>
                Add {visibleText(name).slice(0, longestLine)}
              </Button>
            </p>
          ) : (
            <Field
              key={name}
              {...inner}
              node={member}
              path={[...path, name]}
              name={name}
              change={(changed) => set(index, changed)}
              remove={isRequired ? undefined : () => set(index, undefined)}
            />
          ),
        )}
      </>
    );
  }
  if (node.kind !== 'list') return null;
  return (
    <>
      {node.items.map((item, index) => (
        <Field
          key={index}
          {...inner}
          node={item}
          path={[...path, index]}
          name={`${path.at(-1) ?? 'item'} ${index + 1}`}
          change={(changed) => change({ ...node, items: node.items.with(index, changed) })}
          remove={() => change({ ...node, items: node.items.toSpliced(index, 1) })}
        />
      ))}
      <p>
        <Button class="more" onClick={() => change({ ...node, items: [...node.items, nextItem(node, root)] })}>
          Add an item
        </Button>
      </p>
    </>
  );
}

interface FieldProps extends NodeProps {
  name: string;
  /** Removes the value. Absent: the value is required. */
  remove?: () => void;
}

/** A value with its label, notes and problem. An object or a list becomes a group, and any other value a control. */
function Field({ node, path, root, problems, name, change, remove }: FieldProps) {
  const id = useId();
  const problem = problems[jsonPlace(formRoot, path)];
  const title = schemaText(node.schema, 'title');
  const description = schemaText(node.schema, 'description');
  const label = (
    <>
      <Foreign text={title ?? name} most={200} />
      {saysName(title, name) ? null : (
        <>
          {' '}
          (<Foreign text={name} most={200} />)
        </>
      )}
    </>
  );
  const notes = (
    <span id={`${id}-notes`}>
      {description !== undefined && (
        <span class="hint">
          <Foreign text={description} most={300} />
        </span>
      )}
      {'text' in node && visibleText(node.text.slice(0, 5_000), { lines: true }) !== node.text.slice(0, 5_000) && (
        <span class="hint">
          With invisible or look-alike characters: <Foreign text={node.text} most={300} />
        </span>
      )}
      {problem !== undefined && (
        <span class="problem">
          <Foreign text={problem} most={500} />
        </span>
      )}
    </span>
  );
  const removal: ComponentChildren = remove !== undefined && (
    <Button class="small-button" onClick={remove} aria-label={`Remove ${visibleText(name)}`}>
      Remove
    </Button>
  );
  if (node.kind === 'object' || node.kind === 'list') {
    return (
      <fieldset aria-describedby={`${id}-notes`}>
        <legend>{label}</legend>
        {removal}
        {notes}
        <SchemaForm node={node} path={path} root={root} problems={problems} change={change} />
      </fieldset>
    );
  }
  const marks = { id, ...wrongIf(problem ?? '', `${id}-notes`) };
  return (
    <div class="field">
      <div class="field-head">
        <label for={id}>{label}</label>
        {removal}
      </div>
      <Control node={node} marks={marks} change={change} />
      {notes}
    </div>
  );
}

interface ControlProps {
  node: FormNode;
  marks: { id: string } & ReturnType<typeof wrongIf>;
  change: (node: FormNode) => void;
}

/** The control for a single value; null for an object or a list, which `SchemaForm` shows. */
function Control({ node, marks, change }: ControlProps) {
  switch (node.kind) {
    case 'flag':
      return (
        <input
          {...marks}
          type="checkbox"
          checked={node.on}
          onChange={(event) => change({ ...node, on: event.currentTarget.checked })}
        />
      );
    case 'choice':
      return (
        <select
          {...marks}
          value={String(node.at)}
          onChange={(event) => change({ ...node, at: Number(event.currentTarget.value) })}
        >
          {node.options.map((option, index) => (
            <option key={index} value={String(index)}>
              {(typeof option === 'string' ? visibleText(option) : visibleJsonText(JSON.stringify(option))).slice(
                0,
                longestLine,
              )}
            </option>
          ))}
        </select>
      );
    case 'number':
      return (
        <input
          {...marks}
          inputMode={typeOf(node.schema) === 'integer' ? 'numeric' : 'decimal'}
          autocomplete="off"
          value={node.text}
          onInput={(event) => change({ ...node, text: event.currentTarget.value })}
        />
      );
    case 'text':
    case 'json':
      return <TextControl node={node} marks={marks} change={change} />;
    default:
      return null;
  }
}

function TextControl({ node, marks, change }: Omit<ControlProps, 'node'> & { node: TextNode }) {
  // `isLong` stays the same while the user types, because replacing the element would lose the focus.
  const [isLong] = useState(node.kind === 'json' || node.text.length > longestLine || /[\r\n]/.test(node.text));
  const write = (event: { currentTarget: { value: string } }): void =>
    change({ ...node, text: event.currentTarget.value });
  if (!isLong)
    return (
      <input {...marks} autocomplete="off" autocapitalize="off" spellcheck={false} value={node.text} onInput={write} />
    );
  return (
    <textarea
      {...marks}
      autocapitalize="off"
      class={node.kind === 'json' ? 'mono' : undefined}
      rows={Math.min(14, node.text.slice(0, 2_000).split('\n').length + 2)}
      spellcheck={false}
      value={node.text}
      onInput={write}
    />
  );
}
