import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { readIdentityFile } from '../packages/gateway/src/http/identity/identity-file.ts';

interface Service {
  image?: string;
  build?: unknown;
  command?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  restart?: string;
  env_file?: { path: string; required: boolean }[];
  stop_grace_period?: string;
  healthcheck?: { test?: string[]; disable?: boolean };
  depends_on?: Record<string, { condition: string }>;
}

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const text = read('docker-compose.yml');
const compose = parse(text, { merge: true }) as { services: Record<string, Service>; volumes: object };
const services = Object.entries(compose.services);

/** Every string anywhere in the file. */
function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(strings) : [];
}

const schema = JSON.parse(read('test/fixtures/compose-spec/compose-spec.json')) as object;
const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);

describe('docker-compose.yml', () => {
  test('matches the schema of the Compose Specification, which refuses errors', () => {
    expect({ valid: validate(compose), errors: validate.errors }).toEqual({ valid: true, errors: null });
    expect(validate({ services: { worker: { imaeg: 'countersign' } } })).toBe(false);
    expect(validate({ services: { worker: { healthcheck: { interval: 5 } } } })).toBe(false);
  });

  test('has the services that a deployment needs', () => {
    expect(Object.keys(compose.services)).toEqual(
      expect.arrayContaining(['postgresql', 'temporal', 'temporal-ui', 'setup', 'worker', 'gateway']),
    );
  });

  test.each(services)('%s: an image with a fixed version', (_name, { image }) => {
    expect(image).toMatch(/^[\w./-]+:\d+\.\d+[\w.-]*$/);
  });

  test.each(services.filter(([, { restart }]) => restart !== 'no'))('%s: a health check', (_name, service) => {
    expect(service.restart).toBe('unless-stopped');
    expect(service.healthcheck?.disable).toBeUndefined();
    expect(service.healthcheck?.test?.[0]).toMatch(/^CMD/);
  });

  test.each(services.filter(([, { restart }]) => restart === 'no'))('%s: a job that others wait for', (name) => {
    const conditions = services.map(([, { depends_on }]) => depends_on?.[name]?.condition);
    expect(conditions).toContain('service_completed_successfully');
  });

  test.each(services)('%s: waits for each dependency with a valid condition', (_name, { depends_on = {} }) => {
    for (const [other, { condition }] of Object.entries(depends_on)) {
      const isJob = compose.services[other]?.restart === 'no';
      expect(condition).toBe(isJob ? 'service_completed_successfully' : 'service_healthy');
    }
  });

  test.each(services)('%s: published on this machine only', (_name, { ports = [] }) => {
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  test('no password has a default', () => {
    const passwords = services.flatMap(([, { environment = {} }]) =>
      Object.entries(environment).filter(([name]) => /PASSWORD|PWD|SECRET|TOKEN|KEY/.test(name)),
    );
    const database = ['POSTGRES_PASSWORD', 'SQL_PASSWORD', 'POSTGRES_PWD'];
    expect(passwords.map(([name]) => name)).toEqual([
      'POSTGRES_PASSWORD',
      'SQL_PASSWORD',
      'POSTGRES_PWD',
      'COUNTERSIGN_ADMIN_TOKEN',
      'COUNTERSIGN_REVIEWER_TOKEN',
      'COUNTERSIGN_SESSION_KEY',
    ]);
    for (const [name, value] of passwords) {
      const variable = database.includes(name) ? 'POSTGRES_PASSWORD' : name;
      expect(value).toMatch(new RegExp(`^\\$\\{${variable}:\\?[^}]+\\}$`));
    }
  });

  test('no variable of the environment has a default', () => {
    const variables = strings(compose).flatMap((value) => value.match(/(?<!\$)\$\{[^}]*\}?|(?<!\$)\$\w+/g) ?? []);
    expect(variables.length).toBeGreaterThan(0);
    for (const variable of variables) expect(variable).toMatch(/^\$\{\w+:\?[^}]+\}$/);
  });

  test('the worker starts after set-up, in a namespace that keeps runs for 30 days', () => {
    const { worker, setup, namespace } = compose.services;
    expect(worker?.depends_on).toHaveProperty('setup');
    expect(setup?.depends_on).toHaveProperty('namespace');
    expect(setup?.command).toEqual(['setup']);
    expect(namespace?.command?.join()).toContain(`--retention ${30 * 24}h`);
  });

  test('the gateway authenticates everybody, by secrets from the environment, and says when it is not ready', () => {
    const { gateway } = compose.services;
    const words = gateway?.command ?? [];
    expect(words.slice(0, 3)).toEqual(['gateway', '--host', '0.0.0.0']);
    const mounted = gateway?.volumes?.find((volume) => volume.includes(`:${words[words.indexOf('--identity') + 1]}:`));
    expect(mounted).toBe('./docker/identity.yaml:/countersign/identity.yaml:ro');
    expect(gateway?.healthcheck?.test).toEqual(['CMD', 'node', '/countersign/docker/gateway-health.js']);
    expect(gateway?.ports).toEqual(['127.0.0.1:7280:7280']);
    const secrets = {
      COUNTERSIGN_ADMIN_TOKEN: 'a'.repeat(48),
      COUNTERSIGN_REVIEWER_TOKEN: 'c'.repeat(48),
      COUNTERSIGN_SESSION_KEY: 'b'.repeat(48),
    };
    expect(gateway?.environment).toMatchObject(
      Object.fromEntries(Object.keys(secrets).map((name) => [name, expect.stringContaining(name)])),
    );
    const file = join(root, 'docker/identity.yaml');
    expect(readIdentityFile(file, secrets)).toMatchObject({
      publicUrl: 'http://127.0.0.1:7280',
      tokens: [
        { id: 'admin', roles: ['viewer', 'starter', 'reviewer', 'operator'] },
        // Somebody who may approve the calls of runs that `admin` starts.
        { id: 'reviewer', roles: ['viewer', 'reviewer'] },
      ],
    });
    expect(() => readIdentityFile(file, {})).toThrow('COUNTERSIGN_ADMIN_TOKEN is not set');
  });

  test('worker and gateway get the variables that the project reads, and the gateway has time to stop', () => {
    const { worker, gateway } = compose.services;
    for (const service of [worker, gateway]) {
      expect(service?.env_file).toEqual([
        { path: expect.stringMatching(/^\$\{COUNTERSIGN_PROJECT.*\}\/\.env$/), required: false },
      ]);
    }
    expect(Number.parseInt(gateway!.stop_grace_period!, 10)).toBeGreaterThan(10);
  });

  test("its Temporal server has the version of the tests' dev server", () => {
    const pinned = /^\s*go\.temporal\.io\/server v(\S+)/m.exec(read('tools/temporal/go.mod'))?.[1];
    expect(compose.services.temporal?.image).toBe(`temporalio/server:${pinned}`);
    expect(compose.services.schema?.image).toBe(`temporalio/admin-tools:${pinned}`);
    expect(compose.services.namespace?.image).toBe(`temporalio/admin-tools:${pinned}`);
  });

  test('its image of this project has the version of this project', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(compose.services.setup).toMatchObject({ build: '.', image: `countersign:${version}` });
    expect(compose.services.worker?.image).toBe(`countersign:${version}`);
    expect(compose.services.gateway?.image).toBe(`countersign:${version}`);
  });
});

describe('Dockerfile', () => {
  const dockerfile = read('Dockerfile');
  const lines = dockerfile.split('\n');
  const letThrough = read('.dockerignore').match(/(?<=^!).+$/gm) ?? [];
  const admitted = new Set<string>(letThrough);

  test('builds on the Node version of the npm scripts, with a fixed version, and runs as an unprivileged user', () => {
    const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: { node: string } };
    const bases = lines.filter((line) => line.startsWith('FROM '));
    expect(bases).toHaveLength(2);
    for (const base of bases) expect(base).toContain(`node:${devDependencies.node}-`);
    expect(lines.filter((line) => line.startsWith('USER ')).at(-1)).toBe('USER node');
  });

  test('copies only files that exist and that .dockerignore admits', () => {
    const copied = lines
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
      .flatMap((line) => line.split(' ').slice(1, -1));
    expect(copied.length).toBeGreaterThan(0);
    for (const path of copied.filter((one) => one !== '.')) {
      expect([path, existsSync(join(root, path))]).toEqual([path, true]);
      expect(letThrough.some((one) => path === one || path.startsWith(`${one}/`))).toBe(true);
    }
  });

  test('copies what the build reads, and the health checks that services name', () => {
    const { scripts, files } = JSON.parse(read('package.json')) as { scripts: { build: string }; files: string[] };
    const [, script] = /^node (\S+)$/.exec(scripts.build)!;
    const published = files.filter((file) => !/^(?:!|dist$)/.test(file)).map((file) => file.split('/')[0]!);
    const names = ['LICENSE', 'README.md', 'tsconfig.json', 'tsconfig.build.json', 'src', 'packages', script!];
    for (const name of [...names, ...published]) {
      expect({ name, admitted: admitted.has(name), exists: existsSync(join(root, name)) }).toMatchObject({
        admitted: true,
        exists: true,
      });
    }
    expect(lines).toContain('COPY . ./');
    for (const folder of readdirSync(join(root, 'packages'))) {
      const copied = `COPY packages/${folder}/package.json ./packages/${folder}/`;
      expect(lines.filter((line) => line === copied)).toHaveLength(2);
      expect(lines).toContain(`COPY --from=build /countersign/dist/${folder} ./packages/${folder}/`);
    }
    expect(lines).toContain('COPY --from=build /countersign/dist/countersign ./');
    const checks = services.flatMap(
      ([, { healthcheck }]) => healthcheck?.test?.[2]?.match(/^\/countersign\/(.+)$/) ?? [],
    );
    const named = checks.filter((path) => path.startsWith('docker/'));
    expect(named).toEqual(['docker/worker-health.js', 'docker/gateway-health.js']);
    for (const path of named) expect(dockerfile).toContain(path);
  });

  test('starts the program that package.json names as countersign', () => {
    const { bin } = JSON.parse(read('packages/cli/package.json')) as { bin: { countersign: string } };
    const compiled = bin.countersign.replace('src', 'dist').replace('.ts', '.js');
    expect(dockerfile).toContain(`ENTRYPOINT ["node", "/countersign/packages/cli/${compiled}"]`);
    expect(existsSync(join(root, 'packages', 'cli', bin.countersign))).toBe(true);
  });
});
