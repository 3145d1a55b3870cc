/** With BUILD_ID, the worker is a version of the deployment `orders`: each execution stays on the version that began it. */
import type { WorkerOptions } from '@temporalio/worker';

const { DEPLOYMENT: deploymentName = 'orders', BUILD_ID: buildId } = process.env;

export const deployment: Pick<WorkerOptions, 'workerDeploymentOptions'> =
  buildId === undefined
    ? {}
    : {
        workerDeploymentOptions: {
          useWorkerVersioning: true,
          version: { deploymentName, buildId },
          defaultVersioningBehavior: 'PINNED',
        },
      };
