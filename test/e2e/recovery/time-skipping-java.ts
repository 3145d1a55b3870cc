import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withFileLock } from '../../../src/connection/file-lock.ts';
import { userCacheFolder, reasonOf } from '../../../packages/cli/src/dev-server/pinned-temporal.ts';

const run = promisify(execFile);
const artifact = 'temporal-test-server';
const version = '1.32.1';

const project = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>countersign</groupId>
  <artifactId>time-skipping</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>io.temporal</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>
  </dependencies>
</project>
`;

/** What to execute, without the port. */
export interface JavaServer {
  command: string;
  args: string[];
}

/**
 * Temporal's time-skipping test server for Java: from the user's cache, or fetched once with Maven (33 MB). If it is
 * not available, one sentence says what is missing.
 */
export async function findJavaServer(env = process.env): Promise<JavaServer | { missing: string }> {
  const cache = join(userCacheFolder(env), artifact);
  const folder = join(cache, version);
  const server = { command: 'java', args: ['-cp', join(folder, '*'), 'io.temporal.testserver.TestServer'] };
  try {
    await run('java', ['-version'], { env });
    if (!(await isThere(folder))) {
      await mkdir(cache, { recursive: true });
      await withFileLock(join(cache, 'lock'), { onWait: () => undefined }, async () => {
        if (!(await isThere(folder))) await fetchInto(folder, env);
      });
    }
    return server;
  } catch (error) {
    return { missing: reasonOf(error) };
  }
}

/** Renames the finished folder into place, so that nobody sees an incomplete one. */
async function fetchInto(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const part = `${folder}-${randomUUID()}`;
  try {
    await mkdir(part);
    await writeFile(join(part, 'pom.xml'), project);
    const goals = ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=jars'];
    await run('mvn', goals, { cwd: part, env });
    await rename(join(part, 'jars'), folder);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
