/** The bundles of the workflow code in the package. `npm run build` writes them (`write-package-bundles.ts`). */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BundleOptions, WorkerOptions as TemporalWorkerOptions, WorkerPlugin } from '@temporalio/worker';
import workerPackage from '@temporalio/worker/package.json' with { type: 'json' };
import { modulePath } from '../connection/module-path.ts';

export interface BundleInputs extends Pick<
  TemporalWorkerOptions,
  'bundlerOptions' | 'dataConverter' | 'interceptors' | 'workflowBundle' | 'workflowsPath'
> {
  plugins?: readonly WorkerPlugin[];
  leanBundle?: boolean;
}

/** The code that a bundle was made of. A comment at the start of the bundle's file contains this as JSON. */
interface BundleOrigin {
  /** The version of Temporal's SDK in the bundle. A worker with another version may be incompatible. */
  sdk: string;
  /** The digest of Countersign's modules in the bundle. */
  modules: string;
}

const root = fileURLToPath(new URL('../', import.meta.url));

/** The bundles in the package, one for each failure converter: the SDK's own, and that of `encrypted()`. */
export const packageBundles = {
  plain: { path: join(root, 'workflow-bundle.js'), failureConverterPath: undefined },
  encrypted: {
    path: join(root, 'workflow-bundle-encrypted.js'),
    failureConverterPath: modulePath('workflows/sandbox/failure-converter'),
  },
} as const;

export type BundleKind = keyof typeof packageBundles | 'own';

/** Returns which bundle of the package fits these options; `own` if the bundle must contain code of the user. */
export function bundleKind(options: BundleInputs): BundleKind {
  const isGiven = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : value !== undefined);
  if (Object.values(userInputs).some((from) => isGiven(from(options)))) return 'own';
  const { failureConverterPath } = options.dataConverter ?? {};
  if (failureConverterPath === undefined) return 'plain';
  return failureConverterPath === packageBundles.encrypted.failureConverterPath ? 'encrypted' : 'own';
}

type BundleInput = Exclude<keyof BundleOptions, 'failureConverterPath'> | 'leanBundle' | 'workflowBundle';

/** What the user sets of each input of Temporal's bundler. If a new SDK has another input, this does not compile. */
const userInputs: Record<BundleInput, (options: BundleInputs) => unknown> = {
  workflowBundle: ({ workflowBundle }) => workflowBundle,
  // The package's bundles are lean, so only `false` needs another bundle.
  leanBundle: ({ leanBundle }) => (leanBundle === false ? leanBundle : undefined),
  workflowsPath: ({ workflowsPath }) => workflowsPath,
  workflowInterceptorModules: ({ interceptors }) => interceptors?.workflowModules,
  ignoreModules: ({ bundlerOptions }) => bundlerOptions?.ignoreModules,
  preloadModules: ({ bundlerOptions }) => bundlerOptions?.preloadModules,
  webpackConfigHook: ({ bundlerOptions }) => bundlerOptions?.webpackConfigHook,
  // A plugin may set any other input, so with a plugin no bundle of the package fits.
  plugins: ({ plugins }) => plugins,
  // `CountersignPlugin` refuses every other payload converter.
  payloadConverterPath: () => undefined,
  logger: () => undefined, // changes no bundle
};

/**
 * Returns the path of a bundle of the package; undefined if the worker must make its own bundle: for the kind `own`,
 * and in a clone, which has no bundles. If the bundle does not match the installed SDK or Countersign's modules,
 * returns undefined, too, and calls `refused` with a sentence that says why.
 */
export function packageBundle(kind: BundleKind, refused: (sentence: string) => void): string | undefined {
  if (kind === 'own') return undefined;
  const { path } = packageBundles[kind];
  if (!existsSync(path)) return undefined;
  const { sdk, modules } = readOrigin(path);
  const installed = workerPackage.version;
  if (sdk === installed && modules === modulesDigest()) return path;
  const reason =
    sdk === installed
      ? 'modules of the package have changed since it was made'
      : `it is for Temporal's SDK ${sdk}, and ${installed} is installed`;
  refused(`The workflow bundle of this package is not used: ${reason}. The worker bundles its own.`);
  return undefined;
}

/** Returns the digest of all modules that a bundle may contain (`test/workflows/replay/bundle.test.ts` checks that). */
export function modulesDigest(): string {
  const paths = ['core', 'workflows'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.js'))
      .map((path) => `${folder}/${path.replaceAll(sep, '/')}`),
  );
  const hash = createHash('sha256');
  for (const path of [...paths, 'contract.js', 'codec/plain-payload-converter.js'].toSorted()) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0');
  }
  return hash.digest('hex');
}

export function originComment(origin: BundleOrigin): string {
  return `/* ${JSON.stringify(origin)} */ `;
}

function readOrigin(path: string): BundleOrigin {
  const [, json] = /^\/\* (\{.*?\}) \*\/ /.exec(readFileSync(path, 'utf8')) ?? [];
  if (json === undefined) throw new Error(`${path} does not begin with what it was made of.`);
  return JSON.parse(json) as BundleOrigin;
}
