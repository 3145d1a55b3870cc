import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Removes Temporal's settings from the environment of this process and of its children, so that none of them reaches
 * the cluster in the person's own environment. `folder` gets an empty configuration file.
 */
export function hideOtherServers(folder: string): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('TEMPORAL_')) delete process.env[name];
  process.env.TEMPORAL_CONFIG_FILE = join(folder, 'temporal.toml');
  writeFileSync(process.env.TEMPORAL_CONFIG_FILE, '[profile.default]\n');
}
