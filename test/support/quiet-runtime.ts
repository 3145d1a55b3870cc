import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, Runtime, makeTelemetryFilterString } from '@temporalio/worker';

/**
 * Silences warnings in tests in which replays fail on purpose; they would hide those of other tests. `errors: false`
 * silences what workers log as an error as well. If a worker of a file before is not gone, its runtime stays.
 */
export function installQuietRuntime({ errors = true }: { errors?: boolean } = {}): void {
  try {
    Runtime.install({
      logger: errors ? new DefaultLogger('ERROR') : new DefaultLogger('ERROR', () => undefined),
      telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }) } },
    });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
