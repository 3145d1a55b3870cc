/** `maxCachedWorkflows` of one worker process; null means the default. */
export type WorkerCache = 0 | 1 | null;

export type DisturbanceKind =
  'kill_worker' | 'stop_worker' | 'kill_all_workers' | 'stop_all_workers' | 'kill_server' | 'kill_everything';

export interface Disturbance {
  kind: DisturbanceKind;
  /** The disturbance starts when this share (0 to 1) of all planned messages has been sent. */
  atShare: number;
  /** The index of the worker, for kinds that affect one worker. */
  worker: number;
  /** How long the killed or stopped processes stay down, in milliseconds. */
  downMs: number;
}
