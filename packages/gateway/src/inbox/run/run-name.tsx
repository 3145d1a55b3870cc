import { visibleText } from 'countersign/base';
import type { RunList } from '../../http/inbox/api.ts';
import { Marked } from '../parts/shown-text.tsx';

export type NamedRun = Pick<RunList['runs'][number], 'workflowId' | 'workflowType' | 'agent' | 'task'>;

const longest = 120;

/** The name of a run: its agent or workflow type, then its task or id. Escapes show invisible characters. */
export function runName({ workflowId, workflowType, agent, task }: NamedRun): string {
  const first = agent ?? workflowType;
  const name = `${first.slice(0, longest)}: ${(task ?? workflowId).slice(0, longest)}`;
  return visibleText(name.toWellFormed());
}

export function RunName({ run }: { run: NamedRun }) {
  return <Marked text={runName(run)} />;
}
