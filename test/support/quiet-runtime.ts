import { DefaultLogger, Runtime, makeTelemetryFilterString } from '@temporalio/worker';

/** Silences warnings in tests in which replays fail on purpose; they would hide those of other tests. */
export function installQuietRuntime(): void {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }) } },
  });
}
