import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { problemText } from '../state/texts.ts';
import { Button, onSend, ProblemText, TextField } from './controls.tsx';

interface ModalProps {
  title: string;
  hidesTitle?: boolean;
  onClose: () => void;
  children: ComponentChildren;
}

/** A modal dialog. The focus stays in the dialog, and returns to its former element when the dialog is gone. */
export function Modal({ title, hidesTitle = false, onClose, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const formerFocus = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (formerFocus instanceof HTMLElement && formerFocus.isConnected) formerFocus.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // At a second Escape, a browser closes the dialog itself. It opens again, because the prop `onClose` decides.
      onClose={() => {
        dialog.current?.showModal();
        onClose();
      }}
    >
      <h2 id={id} class={hidesTitle ? 'visually-hidden' : 'dialog-title'}>
        {title}
      </h2>
      {children}
    </dialog>
  );
}

export function CloseButton({ onClose }: { onClose: () => void }) {
  return (
    <p class="buttons">
      <Button class="primary" autofocus onClick={onClose}>
        Close
      </Button>
    </p>
  );
}

interface ConfirmDialogProps {
  title: string;
  children?: ComponentChildren;
  /** The label of the button that confirms. */
  act: string;
  /** The label of the button that closes the dialog and does nothing. It has the focus at first. */
  keep: string;
  askReason?: boolean;
  /** Does what the user has confirmed. If it fails, the dialog shows the error and stays open. */
  onConfirm: (reason: string) => Promise<void>;
  onClose: () => void;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, children, act, keep, askReason = false, onConfirm, onClose } = props;
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const confirm = async (): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    try {
      await onConfirm(reason.trim());
      onClose();
    } catch (error) {
      setProblem(problemText(error));
      setBusy(false);
    }
  };
  return (
    <Modal title={title} onClose={onClose}>
      <form onSubmit={onSend(confirm)}>
        {children}
        {askReason && <TextField label="Reason (optional)" maxLength={500} value={reason} change={setReason} />}
        <ProblemText>{problem}</ProblemText>
        <div class="buttons">
          <Button class="primary" autofocus onClick={onClose}>
            {keep}
          </Button>
          <button type="submit" aria-disabled={isBusy}>
            {act}
          </button>
        </div>
      </form>
    </Modal>
  );
}
