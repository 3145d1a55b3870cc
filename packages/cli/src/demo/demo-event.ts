import type { Json } from 'countersign/base';
import type { CallOutcome, RunStatusName } from 'countersign/client';
import type { Action } from 'countersign/policy';

/** The events of the demo, in order. `--json` prints each as it is, `tellPeople` prints sentences. */
export type DemoEvent =
  | { event: 'server'; address: string; uiUrl: string; pid: number }
  | { event: 'folder'; path: string; model: string; scripted: boolean }
  | { event: 'worker'; pid: number; again: boolean }
  | { event: 'run'; workflowId: string; url: string }
  | { event: 'said'; text: string }
  | {
      event: 'ruling';
      callId: string;
      tool: string;
      args: Json;
      /** `refused`: not a policy decision, for example for an unknown tool. */
      action: Action | 'refused';
      rule: string | null;
      reason: string;
    }
  | { event: 'killed'; pid: number }
  | { event: 'listed'; requestId: string; tool: string; deadline: string | null }
  | {
      event: 'asking';
      requestId: string;
      tool: string;
      args: Json;
      context: string;
      digest: string;
      /** The page of the request in the inbox. Absent: nobody is asked. */
      url?: string;
      commands: string[];
    }
  | { event: 'nobody'; requestId: string }
  | { event: 'decided'; requestId: string; approved: boolean; by: string; message: string }
  | { event: 'elsewhere'; requestId: string; message: string }
  | { event: 'counted'; callId: string; tool: string; times: number; log: string }
  | { event: 'result'; status: RunStatusName; output: string; outcomes: CallOutcome[] }
  | { event: 'links'; url: string; commands: string[]; keep: boolean }
  | { event: 'note'; text: string }
  | { event: 'gone' };

export type Tell = (event: DemoEvent) => void;
