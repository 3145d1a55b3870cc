import type { PathParams } from './state/match-path.ts';

/** What every view gets: the parts of the path that its pattern names. */
export interface ViewProps {
  params: PathParams;
}
