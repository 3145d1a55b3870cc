/** The same work by hand, with Temporal's workflow streams: one model call, whose text is published while it arrives. */
import { proxyActivities } from '@temporalio/workflow';
import { WorkflowStream } from '@temporalio/workflow-streams/workflow';

const { write } = proxyActivities<{ write: (batchIntervalMs: number) => Promise<string> }>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '30s',
});

export async function streamedRun(batchIntervalMs: number): Promise<string> {
  const stream = new WorkflowStream();
  const text = await write(batchIntervalMs);
  // A viewer reads the end of the text before the stream is gone.
  stream.topic<string>('text').publish('end');
  return text;
}
