import { useEffect, useRef } from 'preact/hooks';
import { type AnswerActions, answerActions } from '../state/answer-actions.ts';
import type { AnswerForm } from '../state/answer-form.ts';
import { useShortcuts } from '../state/shortcuts.ts';

/** The keys of the answers. The palette offers the same answers while they are there. */
export function useAnswerKeys(actions: AnswerActions): void {
  const latest = useRef(actions);
  latest.current = actions;
  const names = Object.keys(actions).join(' ');
  useEffect(() => {
    const entries = Object.keys(latest.current).map((name) => [name, () => run(name as AnswerForm)]);
    answerActions.set(Object.fromEntries(entries));
    return () => answerActions.set({});
  }, [names]);
  const run = (name: AnswerForm): void => latest.current[name]?.();
  useShortcuts({
    a: () => run('approve'),
    A: () => run('always'),
    d: () => run('deny'),
    e: () => run('edit'),
    r: () => run('respond'),
    x: () => run('extend'),
  });
}
