/** The workflow code in the package. `npm run build` bundles it (`write-package-bundles.ts`). */
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

/** What a bundle was made of. The bundle's file begins with it, as a comment. */
interface BundleOrigin {
  /** The version of Temporal's SDK in it. A worker of another version may be incompatible. */
  sdk: string;
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

/** The bundle with the workflow code of these options. `own`: it includes the user's code. */
export function bundleKind(options: BundleInputs): BundleKind {
  const isGiven = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : value !== undefined);
  if (Object.values(userCode).some((from) => isGiven(from(options)))) return 'own';
  const { failureConverterPath } = options.dataConverter ?? {};
  if (failureConverterPath === undefined) return 'plain';
  return failureConverterPath === packageBundles.encrypted.failureConverterPath ? 'encrypted' : 'own';
}

type BundleInput = Exclude<keyof BundleOptions, 'failureConverterPath'> | 'leanBundle' | 'workflowBundle';

/** Where each input of Temporal's bundler comes from. If a new SDK has another input, this does not compile. */
const userCode: Record<BundleInput, (options: BundleInputs) => unknown> = {
  workflowBundle: ({ workflowBundle }) => workflowBundle,
  // The bundles of the package have no comments.
  leanBundle: ({ leanBundle }) => (leanBundle === false ? leanBundle : undefined),
  workflowsPath: ({ workflowsPath }) => workflowsPath,
  workflowInterceptorModules: ({ interceptors }) => interceptors?.workflowModules,
  ignoreModules: ({ bundlerOptions }) => bundlerOptions?.ignoreModules,
  preloadModules: ({ bundlerOptions }) => bundlerOptions?.preloadModules,
  webpackConfigHook: ({ bundlerOptions }) => bundlerOptions?.webpackConfigHook,
  // Any plugin may set any of the others.
  plugins: ({ plugins }) => plugins,
  // The plugin refuses every converter but its own.
  payloadConverterPath: () => undefined,
  logger: () => undefined,
};

/**
 * The path of the package's bundle; undefined if the worker has to make its own: for the kind `own`; in a clone, whose
 * sources run uncompiled; and if the bundle is for another version of the SDK or of Countersign's modules. In this last
 * case, calls `refused` with a sentence that says why.
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

/** The digest of the modules that `test/workflows/replay/bundle.test.ts` allows in a bundle. */
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
