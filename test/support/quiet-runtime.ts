import { DefaultLogger, Runtime, makeTelemetryFilterString } from '@temporalio/worker';

/** For tests in which replays fail on purpose: their warnings would bury those of others. */
export function installQuietRuntime(): void {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }) } },
  });
}
