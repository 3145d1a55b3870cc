/**
 * Preloaded into every process of the durable tests (NODE_OPTIONS). Temporal's bundler takes seconds of processor time,
 * and many workers of tests and examples bundle the same workflows: here the first one bundles them, and stores the
 * result in the folder COUNTERSIGN_TEST_BUNDLES for all processes.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import Module from 'node:module';
import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { withFileLock } from '../../src/connection/file-lock.ts';

interface Bundler {
  workflowsPath: string;
  workflowInterceptorModules: string[];
  payloadConverterPath?: string;
  failureConverterPath?: string;
  ignoreModules: string[];
  preloadModules: string[];
  webpackConfigHook(config: object): object;
  createBundle: (this: Bundler) => Promise<object>;
}

type Load = (this: unknown, request: string, parent: NodeJS.Module | undefined, isMain: boolean) => unknown;

/** How Node loads a CommonJS module: a function that has no public name, and that many tools replace. */
const name = '_load';
const loader = Module as unknown as Record<typeof name, Load>;
const load = loader[name];
const patched = new WeakSet<object>();

// The bundler is patched when the SDK loads it: a process that does without the SDK loads nothing here.
loader[name] = function (request, parent, isMain) {
  const exports = Reflect.apply(load, this, [request, parent, isMain]) as {
    WorkflowCodeBundler?: { prototype: Bundler };
  };
  if (request === './workflow/bundler') store(exports.WorkflowCodeBundler!.prototype);
  return exports;
};

function store(bundler: Bundler): void {
  if (patched.has(bundler)) return;
  patched.add(bundler);
  const { createBundle } = bundler;
  bundler.createBundle = async function () {
    const folder = process.env.COUNTERSIGN_TEST_BUNDLES;
    if (folder === undefined) return createBundle.call(this);
    const path = join(folder, `${digestOf(this)}.json`);
    const stored = (): object | undefined =>
      existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as object) : undefined;
    const make = async (): Promise<object> => {
      const bundle = await createBundle.call(this);
      // Renamed when it is whole, because a process that comes later does not take the lock.
      const written = `${path}.${randomUUID()}`;
      writeFileSync(written, JSON.stringify(bundle));
      renameSync(written, path);
      return bundle;
    };
    return stored() ?? withFileLock(`${path}.lock`, { onWait: () => undefined }, async () => stored() ?? make());
  };
}

/** What the bundle depends on: the options, and the files beside the workflows, which a test may write anew. */
function digestOf(bundler: Bundler): string {
  const { workflowsPath, workflowInterceptorModules, payloadConverterPath, failureConverterPath } = bundler;
  const folder = dirname(workflowsPath);
  const files = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mtimeMs]);
  const modules = [workflowInterceptorModules, payloadConverterPath, failureConverterPath];
  const config = inspect(bundler.webpackConfigHook({ output: {}, module: {}, plugins: [] }), { depth: 5 });
  const parts = [workflowsPath, files, modules, bundler.ignoreModules, bundler.preloadModules, config];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
