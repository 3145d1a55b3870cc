import { useState } from 'preact/hooks';
import type { Receipt, Viewed } from 'countersign/client';
import type { DecisionBody } from '../../http/inbox/api.ts';
import { type ApiProblem, apiPath, asProblem, sendJson } from '../api/fetch-json.ts';
import { newMessageId } from '../api/message-id.ts';
import { isAnswerLost, sendAgain } from '../api/send-again.ts';

/** What a reviewer answers. */
export type GivenAnswer = Omit<DecisionBody, 'decisionId' | 'digest' | 'viewed'>;

/** One attempt: a retry sends exactly this again. */
type Attempt = DecisionBody & { decisionId: string };

export type DecisionState =
  | { kind: 'idle' }
  | { kind: 'sending' }
  /** Nobody knows whether it arrived. */
  | { kind: 'unsure'; again: () => void }
  | { kind: 'refused'; problem: ApiProblem }
  | { kind: 'done'; receipt: Receipt; decisionId: string };

export interface Decision {
  state: DecisionState;
  /** Sends an answer about exactly the call with this digest. */
  send: (answer: GivenAnswer, about: { digest: string; viewed: Viewed }) => Promise<void>;
  forget: () => void;
}

/** Sends the answer to a request. `then` runs after each answer of the gateway. */
export function useDecision(workflowId: string, requestId: string, then: () => void): Decision {
  const [state, setState] = useState<DecisionState>({ kind: 'idle' });
  const path = `${apiPath`/approve/${requestId}`}?workflowId=${encodeURIComponent(workflowId)}`;
  const sendAttempt = async (attempt: Attempt): Promise<void> => {
    setState({ kind: 'sending' });
    try {
      const receipt = await sendAgain(() => sendJson<Receipt>('POST', path, attempt));
      setState({ kind: 'done', receipt, decisionId: attempt.decisionId });
    } catch (error) {
      const problem = asProblem(error);
      if (isAnswerLost(problem)) setState({ kind: 'unsure', again: () => void sendAttempt(attempt) });
      else setState({ kind: 'refused', problem });
    }
    then();
  };
  return {
    state,
    send: (answer, about) => sendAttempt({ ...answer, ...about, decisionId: newMessageId() }),
    forget: () => setState({ kind: 'idle' }),
  };
}
