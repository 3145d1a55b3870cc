import type { RefObject } from 'preact';
import { useState } from 'preact/hooks';
import { announce } from '../state/announcements.ts';

/** The answers that need a form. */
export type FormName = 'deny' | 'respond' | 'edit' | 'always' | 'extend' | 'delegate';

interface AnswerBarProps {
  bar: RefObject<HTMLDivElement | null>;
  approveButton: RefObject<HTMLButtonElement | null>;
  /** The form that is open. */
  form: FormName | undefined;
  /** Which forms this request has. */
  has: Readonly<Record<FormName, boolean>>;
  /** True: no button counts now. */
  isOff: boolean;
  /** Why nobody can approve yet; an element with the id `why-not` says it. */
  whyNot: string | undefined;
  approve: () => void;
  open: (name: FormName) => void;
  close: () => void;
}

/** The buttons of all answers. Deny is the prominent one. */
export function AnswerBar({ bar, approveButton, form, has, isOff, whyNot, approve, open, close }: AnswerBarProps) {
  // On a narrow screen, the further answers are folded away to leave room for the card.
  const [isUnfolded, setUnfolded] = useState(false);
  const formButton = (name: FormName, label: string, { style = 'secondary', approves = false } = {}) => {
    const isBlocked = approves && whyNot !== undefined;
    return (
      <button
        type="button"
        class={style}
        data-form={name}
        aria-expanded={form === name}
        aria-disabled={isOff || isBlocked}
        aria-describedby={isBlocked ? 'why-not' : undefined}
        onClick={form === name ? close : () => open(name)}
      >
        {label}
      </button>
    );
  };
  return (
    <div class={isUnfolded ? 'bar all' : 'bar'} ref={bar}>
      {formButton('deny', 'Deny …', { style: 'primary' })}
      <button
        type="button"
        ref={approveButton}
        aria-disabled={isOff || whyNot !== undefined}
        aria-describedby={whyNot === undefined ? undefined : 'why-not'}
        onClick={(event) => {
          // The second click of a double click may be meant for what was there before.
          if (event.detail > 1) return;
          if (whyNot === undefined) approve();
          else announce(whyNot, 'bad');
        }}
      >
        Approve
      </button>
      {formButton('respond', 'Respond …')}
      {has.edit && formButton('edit', 'Edit …', { approves: true })}
      {has.always && formButton('always', 'Always …', { approves: true })}
      {has.extend && formButton('extend', 'Extend …')}
      {formButton('delegate', 'Delegate …')}
      <button type="button" class="unfold" aria-expanded={isUnfolded} onClick={() => setUnfolded(!isUnfolded)}>
        {isUnfolded ? 'Less' : 'More …'}
      </button>
    </div>
  );
}
