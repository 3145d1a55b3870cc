interface SelectFieldProps {
  label: string;
  value: string;
  /** Each choice with its words. */
  choices: readonly (readonly [value: string, words: string])[];
  choose: (value: string) => void;
}

/** A label with its select. */
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
