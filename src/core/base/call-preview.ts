import type { Json } from './tool-call.ts';

/** What a waiting call would change, as the tool's own `preview` says. */
export type CallPreview =
  | { state: 'pending' }
  | { state: 'failed'; message: string }
  | {
      state: 'ready';
      changes: Change[];
      /** If not all fits into a preview: one sentence that says what is left out. It quotes names of changes. */
      cut?: string;
    };

/** A change of one thing. `before: null`: it does not exist yet. `after: null`: it would be removed. */
export type Change =
  | { kind: 'text'; name: string; before: string | null; after: string | null }
  | {
      kind: 'table';
      name: string;
      columns: string[];
      /** One value for each column. */
      rows: { before: Json[] | null; after: Json[] | null }[];
    };
