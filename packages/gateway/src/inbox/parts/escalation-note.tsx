import { personsShown } from 'countersign/base';
import type { ApprovalDetails, ApprovalSummary } from 'countersign/client';
import { LocalTime } from './time.tsx';
import { Foreign } from './shown-text.tsx';

type Escalated = Pick<ApprovalSummary, 'reviewers' | 'escalated'> & Pick<ApprovalDetails, 'people'>;

const mostNames = 5;

/** Names the reviewers before and after each escalation, such as `asked ann, and since 10:20 group:cfo, too`. */
export function EscalationNote({ reviewers = [], escalated = [], people }: Escalated) {
  if (escalated.length === 0) return null;
  const person = personsShown(people);
  const named = (names: readonly string[]) => {
    const more = names.length > mostNames ? [`${names.length - mostNames} more`] : [];
    const shown = [...names.slice(0, mostNames).map((name) => person(name)), ...more];
    return <Foreign text={shown.join(', ')} most={300} />;
  };
  const later = new Set(escalated.flatMap(({ to }) => to));
  const first = reviewers.filter((name) => !later.has(name));
  return (
    <>
      asked {first.length > 0 && <>{named(first)}, and </>}
      {escalated.map(({ at, to }, index) => (
        <span key={at}>
          {index > 0 && ', '}since <LocalTime at={at} /> {named(to)}
        </span>
      ))}
      , too
    </>
  );
}
