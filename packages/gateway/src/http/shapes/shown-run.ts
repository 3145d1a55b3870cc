import type { CountersignClient, RunView, RunCompleteEvent } from 'countersign/client';

/** A run as its policies let reviewers see it: the texts that it ends with come from its redacted events. */
export async function shownRun(client: CountersignClient, workflowId: string): Promise<RunView> {
  const { result, returned: _, failure, retrying, ...view } = await client.show(workflowId);
  // The message of a failed attempt may repeat arguments.
  const shown: RunView = {
    ...view,
    ...(retrying !== undefined && {
      retrying: retrying.map((each) => ({ ...each, message: each.type ?? 'it failed' })),
    }),
  };
  if (view.closedAt === undefined) return shown;
  const end = await endOf(client, workflowId);
  const { status, usage, nestedUsage, cost, outcomes } = result ?? {};
  const { output = '', structuredOutput } = end ?? {};
  const ended = {
    output,
    ...(structuredOutput !== undefined && { structuredOutput }),
    ...(nestedUsage !== undefined && { nestedUsage }),
    ...(cost !== undefined && { cost }),
  };
  return {
    ...shown,
    ...(status !== undefined &&
      usage !== undefined &&
      outcomes !== undefined && { result: { status, ...ended, usage, outcomes } }),
    ...(failure !== undefined && { failure: end?.failure ?? { ...failure, message: 'The run failed.' } }),
  };
}

async function endOf(client: CountersignClient, workflowId: string): Promise<RunCompleteEvent | undefined> {
  let end: RunCompleteEvent | undefined;
  for await (const event of client.events(workflowId, { follow: false, redacted: true })) {
    if (event.type === 'RunCompleteEvent') end = event;
  }
  return end;
}
