import type { AnswerActions } from '../state/answer-actions.ts';
import type { AnswerForm } from '../state/answer-form.ts';

/** The answers that have a form. */
export type FormName = Exclude<AnswerForm, 'approve'>;

interface AnswerBarProps {
  open: (name: FormName) => () => void;
  approve: () => void;
  /** The answers that the request takes. */
  actions: AnswerActions;
  isArmed: boolean;
  /** The call cannot be approved from what is on the screen. */
  isBlocked: boolean;
  /** On a narrow screen, the further answers are folded away to leave room for the card. */
  isUnfolded: boolean;
  unfold: (isUnfolded: boolean) => void;
}

const further: readonly [name: FormName, label: string, approves: boolean][] = [
  ['comment', 'Approve with a comment …', true],
  ['edit', 'Edit …', true],
  ['respond', 'Respond …', false],
  ['always', 'Always …', true],
  ['extend', 'Extend …', false],
  ['delegate', 'Delegate …', false],
  ['move', 'Move …', false],
];

/** The buttons of the answers. The one that lets the least happen is the prominent one. */
export function AnswerBar({ open, approve, actions, isArmed, isBlocked, isUnfolded, unfold }: AnswerBarProps) {
  const describedBy = (approves: boolean): string | undefined => (approves && isBlocked ? 'why-not' : undefined);
  return (
    <div class="bar">
      <button type="button" class="primary" data-form="deny" aria-disabled={!isArmed} onClick={open('deny')}>
        Deny …
      </button>
      <button
        type="button"
        data-form="approve"
        aria-disabled={!isArmed || isBlocked}
        aria-describedby={describedBy(true)}
        onClick={(event) => {
          // The second click of a double click may be meant for what was there before.
          if (event.detail <= 1) approve();
        }}
      >
        Approve
      </button>
      {further.map(
        ([name, label, approves]) =>
          actions[name] !== undefined && (
            <button
              key={name}
              type="button"
              class="secondary"
              data-form={name}
              aria-disabled={!isArmed || (approves && isBlocked)}
              aria-describedby={describedBy(approves)}
              onClick={open(name)}
            >
              {label}
            </button>
          ),
      )}
      <button type="button" class="quiet unfold" aria-expanded={isUnfolded} onClick={() => unfold(!isUnfolded)}>
        {isUnfolded ? 'Less' : 'More …'}
      </button>
    </div>
  );
}
