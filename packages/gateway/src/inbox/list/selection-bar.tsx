interface SelectionBarProps {
  count: number;
  answer: (answer: 'approve' | 'deny') => void;
  clear: () => void;
}

/** What can be done with the selected requests. */
export function SelectionBar({ count, answer, clear }: SelectionBarProps) {
  return (
    <div class="selection-bar" role="region" aria-label="Selected requests">
      <span role="status">{count} selected</span>
      <button type="button" class="primary" onClick={() => answer('deny')}>
        Deny …
      </button>
      <button type="button" onClick={() => answer('approve')}>
        Approve …
      </button>
      <button type="button" onClick={clear}>
        Clear
      </button>
    </div>
  );
}
