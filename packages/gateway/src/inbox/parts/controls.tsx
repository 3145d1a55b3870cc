import type { ComponentChildren, ComponentProps } from 'preact';

export function Button(props: ComponentProps<'button'>) {
  return <button type="button" {...props} />;
}

/** A handler of `submit` that calls `act` and keeps the browser from leaving the page. */
export function onSend(act: () => unknown): (event: Event) => void {
  return (event) => {
    event.preventDefault();
    act();
  };
}

interface Labelled {
  label: ComponentChildren;
  change: (text: string) => void;
}

export function TextField({ label, change, ...field }: ComponentProps<'input'> & Labelled) {
  return (
    <label>
      {label}
      <input {...field} onInput={(event) => change(event.currentTarget.value)} />
    </label>
  );
}

export function TextArea({ label, change, ...field }: ComponentProps<'textarea'> & Labelled) {
  return (
    <label>
      {label}
      <textarea {...field} onInput={(event) => change(event.currentTarget.value)} />
    </label>
  );
}

interface CheckboxProps {
  checked: boolean;
  disabled?: boolean;
  class?: string;
  change: (checked: boolean) => void;
  children: ComponentChildren;
}

export function Checkbox({ class: look = 'check', change, children, ...box }: CheckboxProps) {
  return (
    <label class={look}>
      <input type="checkbox" {...box} onChange={(event) => change(event.currentTarget.checked)} />
      {children}
    </label>
  );
}

interface SelectFieldProps {
  label: string;
  value: string;
  choices: readonly (readonly [value: string, label: string])[];
  choose: (value: string) => void;
}

export function SelectField({ label, value, choices, choose }: SelectFieldProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {choices.map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A problem with an input. The element is always in the page, because screen readers announce only changes of it. */
export function ProblemText({ id, children }: { id?: string; children: ComponentChildren }) {
  return (
    <p id={id} class="problem" role="alert">
      {children}
    </p>
  );
}

/** The attributes that mark a field as invalid while there is a problem. `id`: the id of its `ProblemText`. */
export function wrongIf(problem: string, id: string) {
  return { 'aria-invalid': problem === '' ? undefined : ('true' as const), 'aria-describedby': id };
}
