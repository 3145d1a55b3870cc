import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface AnswerFormProps {
  title: string;
  /** The words on the button that sends. */
  verb: string;
  isBusy: boolean;
  /** True for the answer that lets the least happen. */
  isPrimary?: boolean;
  isBlocked?: boolean;
  submit: () => void;
  cancel: () => void;
  children: ComponentChildren;
}

/** Of radio buttons, the chosen one. */
const first = 'input:not([type=radio]), input:checked, textarea, select';

/** A form below the card: it takes the focus, Escape closes it, and its own button sends it. */
export function AnswerForm({ title, verb, isBusy, isPrimary, isBlocked, submit, cancel, children }: AnswerFormProps) {
  const form = useRef<HTMLFormElement>(null);
  // Before the next key is handled, so that what is typed at once is not lost.
  useLayoutEffect(() => {
    form.current?.scrollIntoView({ block: 'nearest' });
    form.current?.querySelector<HTMLElement>(first)?.focus();
  }, []);
  return (
    <form
      class="answer"
      ref={form}
      aria-label={title}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy && isBlocked !== true) submit();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        cancel();
      }}
    >
      <h2>{title}</h2>
      {children}
      <p class="buttons">
        <button type="button" onClick={cancel}>
          Cancel
        </button>
        <button
          type="submit"
          class={isPrimary === true ? 'primary' : undefined}
          aria-disabled={isBusy || isBlocked === true}
        >
          {verb}
        </button>
      </p>
    </form>
  );
}
