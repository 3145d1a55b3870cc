import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface AnswerFormProps {
  title: string;
  /** The words on the button that sends. */
  verb: string;
  isBusy: boolean;
  /** True for a denial, which is always the prominent button. */
  isPrimary?: boolean;
  isBlocked?: boolean;
  submit: () => void;
  cancel: () => void;
  /** Stays in sight above the buttons. */
  foot?: ComponentChildren;
  children: ComponentChildren;
}

/** What takes the focus: the first field, or the chosen one of radio buttons. */
const first = 'input:not([type=radio]), input:checked, textarea, select';

/** The attributes of a field for the name of a person. */
export const personInput = { autocomplete: 'off', autocapitalize: 'off', maxLength: 200 } as const;

/** A form below the card: it takes the focus, Escape closes it, and its own button sends it. */
export function AnswerForm({
  title,
  verb,
  isBusy,
  isPrimary,
  isBlocked,
  submit,
  cancel,
  foot,
  children,
}: AnswerFormProps) {
  const form = useRef<HTMLFormElement>(null);
  // In the layout phase, so that a key pressed at once goes into the form.
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
      <div class="form-foot">
        {foot}
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
      </div>
    </form>
  );
}
