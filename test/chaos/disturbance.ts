/** `maxCachedWorkflows` of one worker process; null is the default. */
export type WorkerCache = 0 | 1 | null;

export type DisturbanceKind =
  'kill_worker' | 'stop_worker' | 'kill_all_workers' | 'stop_all_workers' | 'kill_server' | 'kill_everything';

export interface Disturbance {
  kind: DisturbanceKind;
  /** Comes when this share of all that is planned to be sent has been sent, 0 to 1. */
  atShare: number;
  /** Which of the workers, where it is one. */
  worker: number;
  /** How long what was ended stays away, in milliseconds. */
  downMs: number;
}
