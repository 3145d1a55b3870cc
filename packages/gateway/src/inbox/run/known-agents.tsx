import type { RunList } from '../../http/inbox/api.ts';
import { useJson } from '../api/use-json.ts';

/** The agents of the newest runs, as suggestions of a field: no gateway knows all that its workers have. */
export function KnownAgents({ id }: { id: string }) {
  const { value } = useJson<RunList>('/runs');
  const agents = new Set(value?.runs.flatMap(({ agent }) => (agent === undefined ? [] : [agent])));
  return (
    <datalist id={id}>
      {[...agents].sort().map((agent) => (
        <option key={agent} value={agent} />
      ))}
    </datalist>
  );
}
