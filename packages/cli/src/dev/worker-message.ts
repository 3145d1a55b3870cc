/** What the process of a worker sends to `countersign dev`. */
export type WorkerMessage =
  /** The module needs this file, and read it in this state (`fileState`). */
  | { file: string; state: string }
  /** The worker is connected, and runs when `runMessage` comes. */
  | { ready: { agents: string[] } }
  /** One sentence: why there is no worker. */
  | { failed: string };

/** What a ready worker waits for. */
export const runMessage = 'run';

/** What the process of a worker gets as its only argument, in JSON. */
export interface WorkerArguments {
  module?: string;
  address: string;
  namespace: string;
  taskQueue?: string;
  /** The file with the workflow code for modules without workflows of their own. Undefined: that of the package. */
  bundle?: string;
  /** True: requests that wait are shown for people on standard error. */
  forPeople: boolean;
}
